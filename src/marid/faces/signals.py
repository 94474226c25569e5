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
PATIENCE = 2.5
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SHELL = 128
"""What a shell adds to the number of the signal that has ended a program."""


def leave(number: int) -> None:
    """End the process at once."""
    os._exit(SHELL + number)


class Early:
    """Answers a signal that comes before anything else could, by `last` words on stderr. See `answer_early`."""

    def __init__(self, last: Callable[[str], bytes]) -> None:
        self._last = last

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """The process ends here."""
        with contextlib.suppress(OSError):
            os.write(2, self._last(signal.Signals(number).name))
        leave(number)


def answer_early(last: Callable[[str], bytes]) -> None:
    """From now on the first signal ends the process with these words, until somebody takes signals by `Signals`."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, Early(last))


class Signals:
    """Takes SIGINT, SIGTERM and SIGHUP, unless whoever started us has them ignored.

    Outside of `held`, the first one raises KeyboardInterrupt where the program is; inside it only ends `come`, so that
    a round can be cancelled as a whole. A further one calls `again`. When the program still hangs `patience` seconds
    after the first, `late` is called from another thread.
    """

    def __init__(
        self,
        late: Callable[[signal.Signals], object] = leave,
        again: Callable[[signal.Signals], object] = leave,
        patience: float = PATIENCE,
    ) -> None:
        self._late = late
        self._again = again
        self._patience = patience
        self._held = False
        self._before: dict[signal.Signals, Any] = {}
        self._ear, self._bell = -1, -1
        self._over = threading.Event()
        # Begun before any signal: a handler may interrupt whoever holds the lock that starting a thread needs.
        self._watch = threading.Thread(target=self._wait_for_what_hangs, daemon=True)
        self.first: signal.Signals | None = None

    @property
    def exit_code(self) -> int:
        """As a shell counts the signal that came; 0 when none did."""
        return SHELL + self.first if self.first else 0

    def __enter__(self) -> "Signals":
        self._ear, self._bell = os.pipe()
        self._watch.start()
        if threading.current_thread() is threading.main_thread():  # others get none
            for number in ENDING:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            # Whoever was there early has had its time: the last words are said.
            signal.signal(number, signal.SIG_IGN if isinstance(handler, Early) else handler)
        self._over.set()
        os.write(self._bell, b"!")
        self._watch.join()
        os.close(self._ear)
        os.close(self._bell)

    def ignore(self) -> None:
        """From now on what comes comes too late."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)

    @contextlib.contextmanager
    def held(self) -> Generator[None]:
        """While this lasts nothing is raised."""
        self._held = True
        try:
            yield
        finally:
            self._held = False

    @contextlib.contextmanager
    def loose(self) -> Generator[None]:
        """Within `held`: a wait that nothing else can end, such as that for a reader who does not read."""
        before, self._held = self._held, False
        try:
            yield
        finally:
            self._held = before

    async def come(self) -> None:
        """Returns when one has come."""
        import anyio

        await anyio.wait_readable(self._ear)

    async def round(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work, which is cancelled when a signal comes. Raises: KeyboardInterrupt then."""
        import anyio

        with self.held():
            async with anyio.create_task_group() as group:
                group.start_soon(self._cancel, group.cancel_scope)
                await work()
                group.cancel_scope.cancel()
        if self.first is not None:
            raise KeyboardInterrupt

    async def _cancel(self, scope: "anyio.CancelScope") -> None:
        await self.come()
        scope.cancel()

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self.first is not None:
            self._again(signal.Signals(number))
            return
        self.first = signal.Signals(number)
        os.write(self._bell, b"!")
        if not self._held:
            raise KeyboardInterrupt

    def _wait_for_what_hangs(self) -> None:
        select.select([self._ear], [], [])
        if not self._over.wait(self._patience) and self.first is not None:
            self._late(self.first)
