"""Workers in this process, for tests with harmless input."""

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from marid.core.errors import MaridError

P = ParamSpec("P")
T = TypeVar("T")


class InlineWorkers:
    """The port Workers; it cannot stop work that hangs."""

    def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    def run_all(
        self, work: Callable[..., T], calls: Sequence[tuple[Any, ...]], /, *, cost: Sequence[int] | None = None
    ) -> "list[T | Exception]":
        del cost
        return [self._one(work, call) for call in calls]

    def _one(self, work: Callable[..., T], call: tuple[Any, ...]) -> "T | Exception":
        try:
            return work(*call)
        except MaridError as error:
            return error
