"""Where a round is performed: its answer and asides on the terminal, the person's questions and interruptions."""

import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from marid.app.app import App
from marid.core.rounds import End, RoundHappening
from marid.core.settings import Display
from marid.faces.cli.sink import Sink, View, make_sink
from marid.faces.cli.sink_answer import Out
from marid.faces.cli.sink_asides import Err
from marid.faces.flags import FORCE_MARKDOWN
from marid.faces.signals import Signals

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from marid.toolkit.asking import Asker

Act: TypeAlias = "Callable[[Callable[[RoundHappening], None], Asker | None], Awaitable[End | None]]"


class Stage:
    """For one round after the other."""

    def __init__(self, app: App, signals: Signals) -> None:
        self._app = app
        self._signals = signals

    def perform(self, act: Act, display: Display, debug: frozenset[str]) -> int:
        """Show a round to its end: the exit code.

        Raises: what the round raises, and OSError when nobody reads the answer or it cannot be written.
        """
        import anyio

        return anyio.run(partial(self._performed, act, display, debug))

    async def _performed(self, act: Act, display: Display, debug: frozenset[str]) -> int:
        import anyio

        from marid.faces.cli.terminal import terminal_asker

        scope = anyio.CancelScope()
        out = Out(sys.stdout, self._signals, scope.cancel)
        asker = terminal_asker(colour=self._app.colour)
        markdown = FORCE_MARKDOWN in debug
        view = View(display, colour=self._app.colour, markdown=markdown, asks_here=asker is not None)
        sink = make_sink(out, Err(sys.stderr, out), view)
        end: End | None = None
        with self._signals.held():
            try:
                with scope:
                    async with anyio.create_task_group() as group:
                        end = await self._heard(act(sink, asker), sink, group)
            except BaseExceptionGroup as several:
                # There is one task that can fail; what it says must not be hidden in a group.
                if not self._signals.exit_code:
                    raise several.exceptions[0] from several.exceptions[0].__cause__
        return self._outcome(out, sink, end)

    async def _heard(self, act: Awaitable[End | None], sink: Sink, group: "TaskGroup") -> End | None:
        group.start_soon(self._interrupted, group)
        group.start_soon(sink.waiting.run)
        sink.waiting.begin()
        try:
            return await act
        finally:
            sink.close()
            group.cancel_scope.cancel()

    async def _interrupted(self, group: "TaskGroup") -> None:
        await self._signals.come()
        group.cancel_scope.cancel()

    def _outcome(self, out: Out, sink: Sink, end: End | None) -> int:
        if self._signals.exit_code:
            sink.break_line()
            return self._signals.exit_code
        if out.trouble is not None:
            raise out.trouble
        if end is not None:
            sink.ended(end)
        return 0
