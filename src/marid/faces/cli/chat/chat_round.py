"""Run a round from the command line: its answer, status lines, questions and interrupts on the terminal."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import anyio

from marid.app.app import RequestScope
from marid.app.rounds import RoundRequest, run_round
from marid.core.conversation.records import ConversationLocked
from marid.core.errors import INTERRUPTED_STATUS, NotFound
from marid.core.events import EventListener
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import DisplaySettings, ResolvedSettings
from marid.faces.access_flags import access_from_flags
from marid.faces.cli.argv.command_line import parse_debug_keys, parse_lock_timeout
from marid.faces.cli.chat.prompt_input import read_prompt
from marid.faces.cli.chat.terminal_asker import open_terminal_asker
from marid.faces.cli.view.answer_output import AnswerStream
from marid.faces.cli.view.console import end_terminal_line, print_note
from marid.faces.cli.view.round_view import RoundViewOptions, StatusStream, make_round_view
from marid.faces.flags import FORCE_MARKDOWN
from marid.faces.signals import SignalGuard

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from marid.toolkit.questions import Asker

RoundRunner: TypeAlias = (
    "Callable[[RequestScope, RoundRequest, EventListener[RoundEvent], Asker | None], Awaitable[RoundEnd | None]]"
)
RoundAction: TypeAlias = "Callable[[EventListener[RoundEvent], Asker | None], Awaitable[RoundEnd | None]]"
_DISPLAY_FLAGS = ("verbose", "show_thinking", "hide_tool_calls")


@dataclass(frozen=True, kw_only=True)
class ChatRequest(RoundRequest):
    """A round as a command line asks for it: `prompt` holds the words of the line.

    `display` holds only the keys that flags gave; `debug` may also hold force-markdown.
    """

    prompt: str = ""
    display: Mapping[str, object] = field(default_factory=dict[str, object])


def chat_request(conversation: str, prompt: str, given: dict[str, Any]) -> ChatRequest:
    """The request that flags make. Raises: BadInput for an invalid effect or time."""
    display: dict[str, object] = {name: True for name in _DISPLAY_FLAGS if given.get(name)}
    if given.get("raw"):
        display["render_markdown"] = False
    return ChatRequest(
        conversation=conversation,
        prompt=prompt,
        access=access_from_flags(given),
        display=display,
        debug=parse_debug_keys(given.get("debug") or ""),
        lock_timeout=parse_lock_timeout(given.get("wait_lock") or ""),
    )


def run_chat(
    scope: RequestScope,
    request: ChatRequest,
    *,
    runner: "RoundRunner | None" = None,
    signals: SignalGuard | None = None,
) -> int:
    """Read the prompt and show its round; returns the exit code.

    Ctrl-C stores what was received and returns 130; 143 after SIGTERM, 129 after SIGHUP.

    Raises: MaridError; OSError when the answer cannot be written.
    """
    with signals or SignalGuard() as signals:
        try:
            scope = scope.within(request.conversation)
            resolved = scope.resolve()
            if not request.resume:
                request = replace(
                    request, prompt=read_prompt(request.prompt, sys.stdin, resolved.settings.context.max_size_mb)
                )
            _print_lock_wait(scope, request)
            act = partial(runner or run_round, scope, request)
            return anyio.run(show_round, scope, act, display_settings(request, resolved), request.debug, signals)
        except ConversationLocked as error:
            hint = "" if request.lock_timeout else "; --wait-lock SECONDS waits for it"
            raise ConversationLocked(f"{error}{hint}", error.holder) from error
        except KeyboardInterrupt:
            end_terminal_line()
            return signals.exit_code or INTERRUPTED_STATUS


def _print_lock_wait(scope: RequestScope, request: ChatRequest) -> None:
    if not request.lock_timeout:
        return
    # The round creates a conversation that does not exist yet; it has no holder.
    with suppress(NotFound):
        holder = scope.stores.conversations.holder(request.conversation)
        if holder is not None:
            print_note(f"waiting for process {holder.pid} on {holder.host}, which works in '{request.conversation}'")


def display_settings(request: ChatRequest, resolved: ResolvedSettings) -> DisplaySettings:
    """How to show answers: flags override the settings."""
    return resolved.settings.display._replace(**cast("dict[str, bool]", dict(request.display)))


async def show_round(
    scope: RequestScope, act: RoundAction, display: DisplaySettings, debug: frozenset[str], signals: SignalGuard
) -> int:
    """Show a round to its end; returns the exit code.

    Raises: what the round raises, and OSError when the answer cannot be written.
    """
    cancelled = anyio.CancelScope()
    out = AnswerStream(sys.stdout, signals, cancelled.cancel)
    asker = open_terminal_asker(colour=scope.colour)
    markdown = FORCE_MARKDOWN in debug
    view = RoundViewOptions(display, colour=scope.colour, markdown=markdown, asks_here=asker is not None)
    sink = make_round_view(out, StatusStream(sys.stderr, out), view)
    end: RoundEnd | None = None
    with signals.defer_interrupts():
        try:
            with cancelled:
                async with anyio.create_task_group() as group:
                    group.start_soon(_cancel_on_signal, signals, group)
                    group.start_soon(sink.waiting.run)
                    sink.waiting.begin()
                    try:
                        end = await act(sink, asker)
                    finally:
                        sink.close()
                        group.cancel_scope.cancel()
        except BaseExceptionGroup as several:
            # Only one task can fail; raise its error itself, not the group.
            if not signals.exit_code:
                raise several.exceptions[0] from several.exceptions[0].__cause__
    if signals.exit_code:
        sink.break_line()
        return signals.exit_code
    if out.error is not None:
        raise out.error
    if end is not None:
        sink.show_end(end)
    return 0


async def _cancel_on_signal(signals: SignalGuard, group: "TaskGroup") -> None:
    await signals.wait_for_signal()
    group.cancel_scope.cancel()
