"""The last line, `done`: its error codes, and how it is written exactly once, whatever happens."""

import os
import signal
import threading
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

from marid.core.command_events import CommandDone
from marid.core.conversation.records import Conflict, ConversationLocked, Corrupt
from marid.core.errors import FAMILIES, MaridError, exit_code, unwrap_group
from marid.core.settings.values import BadSettingsFile
from marid.faces.pipe.early_signals import interruption_message
from marid.faces.pipe.json_lines import JsonLineWriter
from marid.faces.signals import GRACE_SECONDS, SIGNAL_EXIT_BASE, SignalGuard

INTERNAL = "internal_error"
FAMILY_CODES = MappingProxyType(
    {
        "bad_input": "invalid_input",
        "refused": "permission_denied",
        "not_found": "not_found",
        "exhausted": INTERNAL,
        "unavailable": INTERNAL,
        "internal": INTERNAL,
    }
)
# Errors with another code than their family.
ERROR_CODES = MappingProxyType(
    {
        Conflict: "already_exists",
        ConversationLocked: "already_exists",
        Corrupt: "invalid_data",
        BadSettingsFile: "invalid_data",
    }
)


class ErrorReport(NamedTuple):
    """The fields of the last line, and the exit code."""

    code: str
    message: str
    exit: int


def error_report(error: Exception) -> ErrorReport:
    """The report of an error; for a bug also where it was raised."""
    error = unwrap_group(error)
    if not isinstance(error, MaridError):
        frames = traceback.extract_tb(error.__traceback__)[-1:]
        place = "".join(f" ({frame.filename.rpartition('/')[2]}:{frame.lineno})" for frame in frames)
        return ErrorReport(INTERNAL, f"a bug: {type(error).__name__}: {error}{place}", exit_code(error))
    kind = next((code for one, code in ERROR_CODES.items() if isinstance(error, one)), FAMILY_CODES[error.code])
    return ErrorReport(kind, str(error), exit_code(error))


def error_from_code(code: str, message: str) -> MaridError:
    """The error of the family with this code, for a failure that is a value."""
    return next((family for family in FAMILIES if family.code == code), MaridError)(message)


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
