"""Make outlines in workers; a file that cannot be parsed has none."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from marid.core.errors import Unavailable
from marid.ports.workers import Workers
from marid.syntax.outline import outline

MakeOutline: TypeAlias = Callable[[bytes, str], str | None]


class WorkerOutlines:
    """Never fails because of a file: one without an outline is shown by its name."""

    def __init__(self, workers: Workers, make: MakeOutline = outline) -> None:
        self._workers = workers
        self._make = make

    def outline(self, data: bytes, language: str) -> str | None:
        return self.outlines([(data, language)])[0]

    def outlines(self, items: Sequence[tuple[bytes, str]]) -> list[str | None]:
        answers = self._workers.run_all(self._make, items, cost=[len(data) for data, _ in items])
        for answer in answers:
            if isinstance(answer, Unavailable):
                raise answer
        # A broken file may hold lone surrogates, which cannot be written as UTF-8.
        return [answer.encode("utf-8", "replace").decode() if isinstance(answer, str) else None for answer in answers]
