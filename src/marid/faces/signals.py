"""Being told to end, by Ctrl-C, by whoever started us, by a terminal that goes: the first signal ends the work."""

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

# What a round has to store what there is and to close its connections. The promise is 3 seconds for all.
GRACE_SECONDS = 2.5
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SIGNAL_EXIT_BASE = 128
"""What a shell adds to the number of the signal that has ended a program."""


def exit_by_signal(number: int) -> None:
    """End the process at once."""
    os._exit(SIGNAL_EXIT_BASE + number)


class EarlyHandler:
    """Answer a signal that comes before `SignalGuard` is in place: write `last` to stderr and exit."""

    def __init__(self, last: Callable[[str], bytes]) -> None:
        self._last = last

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """The process ends here."""
        with contextlib.suppress(OSError):
            os.write(2, self._last(signal.Signals(number).name))
        exit_by_signal(number)


def install_early_handlers(last: Callable[[str], bytes]) -> None:
    """From now on the first signal ends the process with these words, until somebody takes signals by `Signals`."""
    for number in TERMINATION_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, EarlyHandler(last))


class SignalGuard:
    """Takes SIGINT, SIGTERM and SIGHUP, unless whoever started us has them ignored.

    Outside of `held`, the first one raises KeyboardInterrupt where the program is; inside it only ends `come`, so that
    a round can be cancelled as a whole. A further one calls `again`. When the program still hangs `patience` seconds
    after the first, `late` is called from another thread.
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
        # Begun before any signal: a handler may interrupt whoever holds the lock that starting a thread needs.
        self._watch = threading.Thread(target=self._watch_for_hang, daemon=True)
        self.first: signal.Signals | None = None

    @property
    def exit_code(self) -> int:
        """As a shell counts the signal that came; 0 when none did."""
        return SIGNAL_EXIT_BASE + self.first if self.first else 0

    def __enter__(self) -> "SignalGuard":
        self._wake_read, self._wake_write = os.pipe()
        self._watch.start()
        if threading.current_thread() is threading.main_thread():  # others get none
            for number in TERMINATION_SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._previous_handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._previous_handlers.items():
            # Whoever was there early has had its time: the last words are said.
            signal.signal(number, signal.SIG_IGN if isinstance(handler, EarlyHandler) else handler)
        self._finished.set()
        os.write(self._wake_write, b"!")
        self._watch.join()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def ignore(self) -> None:
        """From now on what comes comes too late."""
        for number in self._previous_handlers:
            signal.signal(number, signal.SIG_IGN)

    @contextlib.contextmanager
    def defer_interrupts(self) -> Generator[None]:
        """While this lasts nothing is raised."""
        self._is_deferred = True
        try:
            yield
        finally:
            self._is_deferred = False

    @contextlib.contextmanager
    def allow_interrupts(self) -> Generator[None]:
        """Within `held`: a wait that nothing else can end, such as that for a reader who does not read."""
        before, self._is_deferred = self._is_deferred, False
        try:
            yield
        finally:
            self._is_deferred = before

    async def wait_for_signal(self) -> None:
        """Returns when one has come."""
        import anyio

        await anyio.wait_readable(self._wake_read)

    async def run_cancellable(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work, which is cancelled when a signal comes. Raises: KeyboardInterrupt then."""
        import anyio

        with self.defer_interrupts():
            async with anyio.create_task_group() as group:
                group.start_soon(self._cancel_on_signal, group.cancel_scope)
                await work()
                group.cancel_scope.cancel()
        if self.first is not None:
            raise KeyboardInterrupt

    async def _cancel_on_signal(self, scope: "anyio.CancelScope") -> None:
        await self.wait_for_signal()
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
