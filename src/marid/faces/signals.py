"""Stop on SIGINT, SIGTERM and SIGHUP: the first signal cancels the work, the second exits at once."""

import contextlib
import os
import select
import signal
import threading
from collections.abc import Awaitable, Callable, Generator
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import anyio

# Time for a round to store its entries and close connections; the process must end within 3 seconds.
GRACE_SECONDS = 2.5
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SIGNAL_EXIT_BASE = 128
"""A shell reports 128 plus the number of the signal that ended a program."""


def exit_by_signal(number: int) -> None:
    """End the process at once."""
    os._exit(SIGNAL_EXIT_BASE + number)


class EarlyHandler:
    """Handles a signal that comes before `SignalGuard` is in place: writes `last` to stderr and exits."""

    def __init__(self, last: Callable[[str], bytes]) -> None:
        self._last = last

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(OSError):
            os.write(2, self._last(signal.Signals(number).name))
        exit_by_signal(number)


def install_early_handlers(last: Callable[[str], bytes]) -> None:
    """Exit on the first signal after writing `last`, until a `SignalGuard` takes over."""
    for number in TERMINATION_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, EarlyHandler(last))


class SignalGuard:
    """Handles SIGINT, SIGTERM and SIGHUP, unless the parent process set them to be ignored.

    The first signal raises KeyboardInterrupt; inside `defer_interrupts` it only wakes `cancel_on_signal`, so that all
    of a round is cancelled. A second one calls `on_repeat`. If the process still runs `grace` seconds after the first,
    `on_hang` is called from another thread.
    """

    def __init__(
        self,
        on_hang: Callable[[signal.Signals], object] = exit_by_signal,
        on_repeat: Callable[[signal.Signals], object] = exit_by_signal,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._on_hang = on_hang
        self._on_repeat = on_repeat
        self._grace = grace
        self._is_deferred = False
        self._previous_handlers: dict[signal.Signals, Any] = {}
        self._wake_read, self._wake_write = -1, -1
        self._finished = threading.Event()
        # Created before any signal: a handler may interrupt code that holds the lock needed to start a thread.
        self._watch = threading.Thread(target=self._watch_for_hang, daemon=True)
        self.first: signal.Signals | None = None

    @property
    def exit_code(self) -> int:
        """128 plus the number of the first signal; 0 without one."""
        return SIGNAL_EXIT_BASE + self.first if self.first else 0

    def __enter__(self) -> "SignalGuard":
        self._wake_read, self._wake_write = os.pipe()
        self._watch.start()
        if threading.current_thread() is threading.main_thread():  # other threads cannot set handlers
            for number in TERMINATION_SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._previous_handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._previous_handlers.items():
            # An early handler would write its last line a second time.
            signal.signal(number, signal.SIG_IGN if isinstance(handler, EarlyHandler) else handler)
        self._finished.set()
        os.write(self._wake_write, b"!")
        self._watch.join()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def ignore(self) -> None:
        """Ignore signals from now on: the work is done."""
        for number in self._previous_handlers:
            signal.signal(number, signal.SIG_IGN)

    @contextlib.contextmanager
    def defer_interrupts(self) -> Generator[None]:
        """Do not raise KeyboardInterrupt inside this block."""
        self._is_deferred = True
        try:
            yield
        finally:
            self._is_deferred = False

    @contextlib.contextmanager
    def allow_interrupts(self) -> Generator[None]:
        """Within `defer_interrupts`: a wait that only a signal can end, such as for a slow reader of stdout."""
        before, self._is_deferred = self._is_deferred, False
        try:
            yield
        finally:
            self._is_deferred = before

    async def run_cancellable(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work`; a signal cancels it. Raises: KeyboardInterrupt after a signal."""
        import anyio

        with self.defer_interrupts():
            async with anyio.create_task_group() as group:
                group.start_soon(self.cancel_on_signal, group.cancel_scope)
                await work()
                group.cancel_scope.cancel()
        if self.first is not None:
            raise KeyboardInterrupt

    async def cancel_on_signal(self, scope: "anyio.CancelScope") -> None:
        """Wait for the first signal, and cancel `scope`."""
        import anyio

        await anyio.wait_readable(self._wake_read)
        scope.cancel()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.first is not None:
            self._on_repeat(signal.Signals(number))
            return
        self.first = signal.Signals(number)
        os.write(self._wake_write, b"!")
        if not self._is_deferred:
            raise KeyboardInterrupt

    def _watch_for_hang(self) -> None:
        select.select([self._wake_read], [], [])
        if not self._finished.wait(self._grace) and self.first is not None:
            self._on_hang(self.first)
