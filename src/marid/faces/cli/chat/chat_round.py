"""Run rounds from the command line: their answers, status lines, questions and interrupts on the terminal."""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import anyio

from marid.app.app import RequestScope
from marid.app.inboxes import inbox_counts, run_inbox_round
from marid.app.rounds import RoundRequest, run_round
from marid.app.tool_session import access_from_flags
from marid.core.caller import Caller
from marid.core.conversation.entry import new_id
from marid.core.conversation.records import ConversationLocked
from marid.core.errors import INTERRUPTED_STATUS, MaridError, NotFound, exit_code
from marid.core.events import Event, EventListener, Notice
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import DisplaySettings, ResolvedSettings
from marid.faces.cli.argv.command_line import parse_debug_keys, parse_lock_timeout
from marid.faces.cli.chat.prompt_input import read_prompt
from marid.faces.cli.chat.terminal_asker import open_terminal_asker
from marid.faces.cli.view.answer_output import AnswerStream, StatusStream
from marid.faces.cli.view.console import end_terminal_line, error_text, print_note
from marid.faces.cli.view.round_view import RoundViewOptions, make_round_view
from marid.faces.flags import FORCE_MARKDOWN
from marid.faces.signals import SignalGuard

if TYPE_CHECKING:
    from marid.toolkit.questions import Asker

RoundRunner: TypeAlias = (
    "Callable[[RequestScope, RoundRequest, EventListener[RoundEvent], Asker | None], Awaitable[RoundEnd | None]]"
)
RoundAction: TypeAlias = "Callable[[EventListener[RoundEvent], Asker | None], Awaitable[RoundEnd | None]]"
_EMPTY_INBOX = "'{}' has no pending messages"
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
    scope: RequestScope, request: ChatRequest, *, runner: "RoundRunner" = run_round, signals: SignalGuard | None = None
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
                prompt = read_prompt(request.prompt, sys.stdin, resolved.settings.context.max_size_mb)
                request = replace(request, prompt=prompt)
            _print_lock_wait(scope, request)
            act = partial(runner, scope, request)
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
                    group.start_soon(signals.cancel_on_signal, group.cancel_scope)
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


def check_inboxes(
    scope: RequestScope,
    names: Sequence[str] | None,
    request: ChatRequest,
    *,
    runner: "RoundRunner | None" = None,
    signals: SignalGuard | None = None,
) -> int:
    """A round in each of these conversations that has messages, or with None in every one that has; else nothing.

    The conversation and the prompt of `request` do not count. A failure is printed and the others go on; the exit code
    is that of the first failure.

    Raises: OSError when the answer cannot be written any more.
    """
    full = dict(inbox_counts(scope, archived=names is not None))
    meant = list(full) if names is None else list(dict.fromkeys(names))
    several = names is None or len(meant) > 1
    code = 0
    with signals or SignalGuard() as signals:
        for name in meant:
            if not full.get(name):
                print_note(_EMPTY_INBOX.format(name))
                continue
            if several:
                print_note(f"processing the inbox of '{name}'")
            try:
                within = scope.within(name)
                act = partial(runner or _check_inbox, within, replace(request, conversation=name, prompt=""))
                anyio.run(show_round, within, act, display_settings(request, within.resolve()), request.debug, signals)
            except KeyboardInterrupt:
                return signals.exit_code or INTERRUPTED_STATUS
            except MaridError as error:
                _print_failure(scope, name, error)
                code = code or exit_code(error)
            if signals.exit_code:
                return signals.exit_code
    if not meant:
        print_note("no pending messages in any inbox")
    return code


def _print_failure(scope: RequestScope, name: str, error: MaridError) -> None:
    """Print the error and what to do next: a round that had begun has taken the messages."""
    pending = scope.stores.inbox.peek(name)
    next_step = "its messages are still pending" if pending else f"`marid -C {name} resume` continues"
    print_note(f"{name}: {error_text(error)}; {next_step}")


async def _check_inbox(
    scope: RequestScope, request: RoundRequest, listener: EventListener[RoundEvent], asker: "Asker | None"
) -> RoundEnd | None:
    end = await run_inbox_round(scope, request, listener, asker)
    if end is None:
        await listener(Event(new_id(), 0, Caller(face="cli"), Notice(_EMPTY_INBOX.format(request.conversation))))
    return end
