"""Making a thing when it is first needed, and only then."""

from _thread import allocate_lock
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """`make`, called at the first use only."""
    made: list[T] = []
    lock = allocate_lock()  # a server may ask from several threads at once

    def get() -> T:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return get
