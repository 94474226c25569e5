"""The last line, `done`: written exactly once, whatever happens."""

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from marid.core.command_events import CommandDone
from marid.faces.pipe.early_signals import interruption_message
from marid.faces.pipe.error_codes import INTERNAL, ErrorReport, error_report
from marid.faces.pipe.json_lines import JsonLineWriter
from marid.faces.signals import GRACE_SECONDS, SIGNAL_EXIT_BASE, SignalGuard


class DoneLine:
    """Writes the last line. If the work does not end after a signal, `leave` ends the process."""

    def __init__(
        self, wire: JsonLineWriter, grace: float = GRACE_SECONDS, leave: Callable[[int], Any] = os._exit
    ) -> None:
        self._wire = wire
        self._grace = grace
        self._leave = leave
        self._once = threading.Lock()
        self._ended = False
        self.exit_code = 0

    @contextmanager
    def guard(self) -> Generator[SignalGuard]:
        """Run the block, then write the last line and set `exit_code`. Errors, bugs too, end here."""
        failure: ErrorReport | None = None
        with SignalGuard(self._abandon, _ignore_signal, self._grace) as signals:
            try:
                yield signals
            except KeyboardInterrupt:
                failure = _interruption_report(signals.first or signal.SIGINT)
            except Exception as error:  # noqa: BLE001 - the outermost ring of this face: a bug has its last line too
                failure = error_report(error)
            signals.ignore()
            with self._once:
                self._ended = True
                self.exit_code = self._write_done(failure)

    def _abandon(self, number: signal.Signals) -> None:
        self._once.acquire()
        if self._ended:
            self._once.release()
            return
        # Keep the lock, so that nothing else writes the line.
        self._leave(self._write_done(_interruption_report(number)))

    def _write_done(self, failure: ErrorReport | None) -> int:
        if failure is None:
            self._wire.write_event(CommandDone(ok=True))
            return 0
        self._wire.write_event(CommandDone(ok=False, code=failure.code, message=failure.message))
        return failure.exit


def _interruption_report(number: signal.Signals) -> ErrorReport:
    return ErrorReport(INTERNAL, interruption_message(number.name), SIGNAL_EXIT_BASE + number)


def _ignore_signal(_number: signal.Signals) -> None:
    """A second signal changes nothing."""
