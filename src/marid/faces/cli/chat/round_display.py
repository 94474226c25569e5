"""Where a round is performed: its answer and asides on the terminal, the person's questions and interruptions."""

import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from marid.app.app import RequestScope
from marid.core.events import EventListener
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.view.answer_output import AnswerStream
from marid.faces.cli.view.round_view import RoundView, RoundViewOptions, make_round_view
from marid.faces.cli.view.status_lines import StatusStream
from marid.faces.flags import FORCE_MARKDOWN
from marid.faces.signals import SignalGuard

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from marid.toolkit.questions import Asker

RoundAction: TypeAlias = "Callable[[EventListener[RoundEvent], Asker | None], Awaitable[RoundEnd | None]]"


class RoundDisplay:
    """For one round after the other."""

    def __init__(self, scope: RequestScope, signals: SignalGuard) -> None:
        self._scope = scope
        self._signals = signals

    def run(self, act: RoundAction, display: DisplaySettings, debug: frozenset[str]) -> int:
        """Show a round to its end: the exit code.

        Raises: what the round raises, and OSError when nobody reads the answer or it cannot be written.
        """
        import anyio

        return anyio.run(partial(self._run_async, act, display, debug))

    async def _run_async(self, act: RoundAction, display: DisplaySettings, debug: frozenset[str]) -> int:
        import anyio

        from marid.faces.cli.chat.terminal_asker import open_terminal_asker

        scope = anyio.CancelScope()
        out = AnswerStream(sys.stdout, self._signals, scope.cancel)
        asker = open_terminal_asker(colour=self._scope.colour)
        markdown = FORCE_MARKDOWN in debug
        view = RoundViewOptions(display, colour=self._scope.colour, markdown=markdown, asks_here=asker is not None)
        sink = make_round_view(out, StatusStream(sys.stderr, out), view)
        end: RoundEnd | None = None
        with self._signals.defer_interrupts():
            try:
                with scope:
                    async with anyio.create_task_group() as group:
                        end = await self._await_round(act(sink, asker), sink, group)
            except BaseExceptionGroup as several:
                # There is one task that can fail; what it says must not be hidden in a group.
                if not self._signals.exit_code:
                    raise several.exceptions[0] from several.exceptions[0].__cause__
        return self._exit_code(out, sink, end)

    async def _await_round(
        self, act: Awaitable[RoundEnd | None], sink: RoundView, group: "TaskGroup"
    ) -> RoundEnd | None:
        group.start_soon(self._cancel_on_signal, group)
        group.start_soon(sink.waiting.run)
        sink.waiting.begin()
        try:
            return await act
        finally:
            sink.close()
            group.cancel_scope.cancel()

    async def _cancel_on_signal(self, group: "TaskGroup") -> None:
        await self._signals.wait_for_signal()
        group.cancel_scope.cancel()

    def _exit_code(self, out: AnswerStream, sink: RoundView, end: RoundEnd | None) -> int:
        if self._signals.exit_code:
            sink.break_line()
            return self._signals.exit_code
        if out.error is not None:
            raise out.error
        if end is not None:
            sink.show_end(end)
        return 0
