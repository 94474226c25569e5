"""Make a part when it is first used: importing every adapter at the start would take longer than most commands."""

from _thread import allocate_lock
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def make(target: str, *args: Any, **options: Any) -> Any:
    """Import `target`, written `module:name`, and call it."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)(*args, **options)


def lazy(target: str, *args: Any, **options: Any) -> Callable[[], Any]:
    """Return a function that makes the part at its first call and returns the same one afterwards."""
    return once(partial(make, target, *args, **options))


def once(make_part: Callable[[], T]) -> Callable[[], T]:
    """Return a function that calls `make_part` the first time and returns the same result afterwards."""
    made: list[T] = []
    lock = allocate_lock()  # a server may ask from several threads at once

    def get() -> T:
        with lock:
            if not made:
                made.append(make_part())
            return made[0]

    return cache(get)


class LazyServices(Mapping[type, object]):
    """Ports by type, each made when a tool first asks for it. Those with a condition are there while it holds."""

    def __init__(
        self, makers: Mapping[type, Callable[[], object]], conditions: Mapping[type, Callable[[], bool]] | None = None
    ) -> None:
        self._makers = makers
        self._conditions = conditions or {}
        self._made: dict[type, object] = {}
        self._lock = allocate_lock()  # calls that run at once may ask for the same port

    def __getitem__(self, port: type) -> object:
        with self._lock:
            if port not in self._made:
                self._made[port] = self._makers[port]()
            return self._made[port]

    def __contains__(self, port: object) -> bool:
        return isinstance(port, type) and port in self._makers and self._holds(port)

    def __iter__(self) -> Iterator[type]:
        return filter(self._holds, self._makers)

    def __len__(self) -> int:
        return sum(map(self._holds, self._makers))

    def _holds(self, port: type) -> bool:
        return port not in self._conditions or self._conditions[port]()
