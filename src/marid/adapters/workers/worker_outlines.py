"""Outlines from workers: a file that is too hard to parse has none."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from marid.core.errors import Unavailable
from marid.ports.workers import Workers
from marid.syntax.outline import outline

Maker: TypeAlias = Callable[[bytes, str], str | None]


class WorkerOutlines:
    """Never fails because of a file: whatever is wrong with one, it is shown by its name instead."""

    def __init__(self, workers: Workers, make: Maker = outline) -> None:
        self._workers = workers
        self._make = make

    def outline(self, data: bytes, language: str) -> str | None:
        """See `ports.outlines`."""
        return self.outlines([(data, language)])[0]

    def outlines(self, items: Sequence[tuple[bytes, str]]) -> list[str | None]:
        """See `ports.outlines`."""
        answers = self._workers.run_all(self._make, items, cost=[len(data) for data, _ in items])
        for answer in answers:
            if isinstance(answer, Unavailable):
                raise answer
        return [
            None if answer is None or isinstance(answer, Exception) else _replace_surrogates(answer)
            for answer in answers
        ]


def _replace_surrogates(answer: str) -> str:
    """What can be written as UTF-8: half a pair of a letter, which a broken file may hold, cannot."""
    return answer.encode("utf-8", "replace").decode()
