"""The last line: `done`, once, whatever happened."""

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from marid.faces.pipe.codes import INTERNAL, Failure, failure_of
from marid.faces.pipe.early import interruption
from marid.faces.pipe.wire import Wire
from marid.faces.signals import PATIENCE, SHELL, Signals


class Ending:
    """Writes the last line. Who hangs after a signal is not waited for: `leave` ends the process."""

    def __init__(self, wire: Wire, patience: float = PATIENCE, leave: Callable[[int], Any] = os._exit) -> None:
        self._wire = wire
        self._patience = patience
        self._leave = leave
        self._once = threading.Lock()
        self._ended = False

    def run(self, work: Callable[[Signals], None]) -> int:
        """Do the work, then say that it is done; the exit code. Nothing is written after that line."""
        with Signals(self._given_up, _too_late, self._patience) as signals:
            failure = _failure(work, signals)
            signals.ignore()
            with self._once:
                self._ended = True
                return self._done(failure)

    def _given_up(self, number: signal.Signals) -> None:
        self._once.acquire()
        if self._ended:  # it was a close thing
            self._once.release()
            return
        # The lock is kept for good: this line is the last.
        self._leave(self._done(_interrupted(number)))

    def _done(self, failure: Failure | None) -> int:
        if failure is None:
            self._wire.event("done", ok=True)
            return 0
        self._wire.event("done", ok=False, code=failure.code, message=failure.message)
        return failure.exit


def _failure(work: Callable[[Signals], None], signals: Signals) -> Failure | None:
    try:
        work(signals)
    except KeyboardInterrupt:
        return _interrupted(signals.first or signal.SIGINT)
    except Exception as error:  # noqa: BLE001 - the outermost ring of this face: a bug has its last line too
        return failure_of(error)
    return None


def _interrupted(number: signal.Signals) -> Failure:
    return Failure(INTERNAL, interruption(number.name), SHELL + number)


def _too_late(_number: signal.Signals) -> None:
    """A second signal changes nothing."""
