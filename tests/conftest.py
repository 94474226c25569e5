"""For all tests: a profile for properties, no controlling terminal, and default signal handlers."""

import fcntl
import os
import signal
import termios
from contextlib import suppress

from hypothesis import HealthCheck, settings

# A busy machine is no reason to fail. `make test` tries the same examples every time, so that an unchanged tree passes;
# `make soak` looks for new ones.
settings.register_profile("search", deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("marid", parent=settings.get_profile("search"), derandomize=True)
settings.load_profile("marid")


def _leave_the_terminal() -> None:
    """marid asks on the terminal itself: a question in a test must not reach the person who typed `make test`."""
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # sent to the first process of a terminal
        fcntl.ioctl(terminal, termios.TIOCNOTTY)
        os.close(terminal)
        signal.signal(signal.SIGHUP, before)


def _hear_signals() -> None:
    """A background job of a script ignores Ctrl-C, and so would every program that a test starts."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


_leave_the_terminal()
_hear_signals()
