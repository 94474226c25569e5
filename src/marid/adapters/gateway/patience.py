"""How long a service is waited for, and how often it is asked again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import random

import anyio

FURTHER_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class Patience:
    """In seconds. `idle` is the longest silence within an answer, `whole` the longest answer."""

    connect: float = 10.0
    idle: float = 120.0
    whole: float = 3600.0
    first_wait: float = 0.5
    longest_wait: float = 30.0
    longest_asked: float = 60.0
    """Whoever asks by Retry-After for more than this is not asked again."""
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    chance: Callable[[], float] = random

    def wait(self, failures: int, asked: float | None) -> float:
        """How long to wait after so many failures, where the service asked for `asked` seconds or for nothing."""
        if asked is not None:
            return max(asked, 0.0)
        step = min(self.first_wait * 2**failures, self.longest_wait)
        return step / 2 + self.chance() * step / 2
