"""Make a thing at its first use, and only then."""

from _thread import allocate_lock
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Return a function that calls `make` the first time and gives the same result ever after."""
    made: list[T] = []
    lock = allocate_lock()  # a server may ask from several threads at once

    def get() -> T:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return get
