"""For all tests: one profile for properties, nobody in front of a terminal to be asked, and signals that are heard."""

import fcntl
import os
import signal
import termios
from contextlib import suppress

from hypothesis import HealthCheck, settings

# A machine that is busy is no reason to fail. `make test` tries the same examples every time, so that it does not fail
# over what nobody has changed; `make soak` looks for new ones.
settings.register_profile("search", deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("marid", parent=settings.get_profile("search"), derandomize=True)
settings.load_profile("marid")


def _leave_the_terminal() -> None:
    """The program asks on the terminal itself: what a test makes it ask must not reach whoever typed `make test`."""
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the first process of a terminal is told that way
        fcntl.ioctl(terminal, termios.TIOCNOTTY)
        os.close(terminal)
        signal.signal(signal.SIGHUP, before)


def _hear_signals() -> None:
    """What was started in the background of a script ignores Ctrl-C, and so would all programs that tests start."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


_leave_the_terminal()
_hear_signals()
