"""How often a person may be asked: one who is asked without end says yes in the end."""

import time
from collections import deque
from collections.abc import Callable, Hashable

WINDOW = 60.0


class Pace:
    """Counts questions within the last minute: the same one `most_same` times, one caller's `most` times."""

    def __init__(self, *, most_same: int = 10, most: int = 60, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_same = most_same
        self._most = most
        self._clock = clock
        self._asked: dict[Hashable, deque[float]] = {}

    def allows(self, caller: Hashable, subject: str) -> bool:
        """Whether one more may be asked now; if so, it counts."""
        now = self._clock()
        self._forget(now)
        same, all_of_them = self._times((caller, subject)), self._times(caller)
        if len(same) >= self._most_same or len(all_of_them) >= self._most:
            return False
        same.append(now)
        all_of_them.append(now)
        return True

    def _times(self, key: Hashable) -> deque[float]:
        return self._asked.setdefault(key, deque())

    def _forget(self, now: float) -> None:
        for key, times in list(self._asked.items()):
            while times and times[0] <= now - WINDOW:
                times.popleft()
            if not times:
                del self._asked[key]
