"""How often a person may be asked: one who is asked without end says yes in the end."""

import time
from collections import deque
from collections.abc import Callable, Hashable

WINDOW = 60.0


class AskRateLimit:
    """Counts questions within the last minute: the same one `most_same` times, one caller's `most` times."""

    def __init__(self, *, max_same: int = 10, max_total: int = 60, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_same = max_same
        self._max_total = max_total
        self._clock = clock
        self._asked: dict[Hashable, deque[float]] = {}

    def try_acquire(self, caller: Hashable, subject: str) -> bool:
        """Whether one more may be asked now; if so, it counts."""
        now = self._clock()
        self._drop_expired(now)
        same, all_of_them = self._timestamps((caller, subject)), self._timestamps(caller)
        if len(same) >= self._max_same or len(all_of_them) >= self._max_total:
            return False
        same.append(now)
        all_of_them.append(now)
        return True

    def _timestamps(self, key: Hashable) -> deque[float]:
        return self._asked.setdefault(key, deque())

    def _drop_expired(self, now: float) -> None:
        for key, times in list(self._asked.items()):
            while times and times[0] <= now - WINDOW:
                times.popleft()
            if not times:
                del self._asked[key]
