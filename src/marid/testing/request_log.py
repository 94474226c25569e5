"""What was asked and how each answer ended; a test can wait for either."""

import threading
from collections.abc import Callable

from marid.core.errors import Exhausted
from marid.testing.connection import Ending
from marid.testing.request import Request


class RequestLog:
    """Requests in the order of their arrival. Threads share it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests: list[Request] = []
        self._endings: dict[int, Ending] = {}

    @property
    def requests(self) -> tuple[Request, ...]:
        """All that came so far."""
        with self._changed:
            return tuple(self._requests)

    def add(self, read: Callable[[int], Request]) -> Request:
        """Number a request and keep it."""
        with self._changed:
            request = read(len(self._requests))
            self._requests.append(request)
            self._changed.notify_all()
            return request

    def record_end(self, number: int, ending: Ending) -> None:
        """Note how an answer ended."""
        with self._changed:
            self._endings[number] = ending
            self._changed.notify_all()

    def wait_for(self, count: int, seconds: float) -> tuple[Request, ...]:
        """All requests, once there are `count`.

        Raises: Exhausted when the time is over before.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._requests) >= count, seconds):
                raise Exhausted(f"{len(self._requests)} of {count} requests came in {seconds:g} s")
            return tuple(self._requests)

    def wait_for_end(self, number: int, seconds: float) -> Ending:
        """How the answer to this request ended, once it has.

        Raises: Exhausted when the time is over before.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: number in self._endings, seconds):
                raise Exhausted(f"the answer to request {number} had no end in {seconds:g} s")
            return self._endings[number]
