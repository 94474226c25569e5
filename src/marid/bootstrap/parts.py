"""Make a part when it is first used: importing every adapter at the start would take longer than most commands."""

from _thread import allocate_lock
from collections.abc import Callable
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
