"""Port to processes that may be killed, for work on hostile input."""

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Workers(Protocol):
    """Parsers and untrusted regular expressions run here: both can hang, crash or use up all memory.

    `work` is a top-level function of a module of `marid`; its arguments and results can be pickled. A MaridError raised
    by `work` is raised here; anything else is a bug. Both methods raise Unavailable if no worker can be started.
    """

    def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of `work`. Raises: Exhausted if it took too long or too much memory; what `work` raises."""
        ...

    def run_all(
        self, work: Callable[..., T], calls: Sequence[tuple[Any, ...]], /, *, cost: Sequence[int] | None = None
    ) -> "list[T | Exception]":
        """The result or the error of each call, in order.

        `cost` is the number of bytes that each call parses; with it, small calls share a message and a worker.
        """
        ...
