"""Work on hostile input, done where it can do no harm: in processes that may be killed."""

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Workers(Protocol):
    """Parsers and regular expressions that somebody else wrote run here: both can hang, crash or eat all memory.

    `work` is a function at the top of a module of `marid`, found there by its name; arguments and results are values
    that can be pickled. An error of our families raised by `work` is raised here; anything else it raises is a bug.
    """

    def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` gives for these arguments.

        Raises:
            Exhausted: it took too long or too much memory.
            Unavailable: no worker can be started.
            MaridError: what `work` itself raised.
        """
        ...

    def run_all(
        self, work: Callable[..., T], calls: Sequence[tuple[Any, ...]], /, *, cost: Sequence[int] | None = None
    ) -> "list[T | Exception]":
        """One answer for each tuple of arguments, in their order; one that fails leaves its error and harms no other.

        `cost` is what each call is worth, in bytes to parse; with it, small calls share a message and a worker.

        Raises:
            Unavailable: no worker can be started.
        """
        ...
