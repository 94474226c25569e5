"""How long a service is waited for, and how often it is asked again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import random

import anyio

MAX_RETRIES = 3


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """In seconds. `idle` is the longest silence within an answer, `whole` the longest answer."""

    connect_timeout: float = 10.0
    idle_timeout: float = 120.0
    total_timeout: float = 3600.0
    first_wait: float = 0.5
    max_wait: float = 30.0
    max_retry_after: float = 60.0
    """Whoever asks by Retry-After for more than this is not asked again."""
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = random

    def delay(self, failures: int, retry_after: float | None) -> float:
        """How long to wait after so many failures, where the service asked for `asked` seconds or for nothing."""
        if retry_after is not None:
            return max(retry_after, 0.0)
        step = min(self.first_wait * 2**failures, self.max_wait)
        return step / 2 + self.jitter() * step / 2
