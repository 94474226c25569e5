"""A person says something on the command line, and sees what comes of it."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from marid.app.app import RequestScope
from marid.app.round_request import RoundRequest
from marid.core.conversation.records import ConversationLocked
from marid.core.errors import INTERRUPTED_STATUS, NotFound
from marid.core.events import EventListener
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import DisplaySettings, ResolvedSettings
from marid.faces.cli.chat.prompt_input import read_prompt
from marid.faces.cli.chat.round_display import RoundDisplay
from marid.faces.cli.view.console import end_terminal_line, print_note
from marid.faces.signals import SignalGuard

if TYPE_CHECKING:
    from marid.toolkit.questions import Asker

RoundRunner: TypeAlias = (
    "Callable[[RequestScope, RoundRequest, EventListener[RoundEvent], Asker | None], Awaitable[RoundEnd | None]]"
)


@dataclass(frozen=True, kw_only=True)
class ChatRequest(RoundRequest):
    """What a command line says. The conversation is chosen already; `prompt` are the words that are on the line.

    `display` are only those keys of the display that flags gave. `debug` may also hold force-markdown.
    """

    prompt: str = ""
    display: Mapping[str, object] = field(default_factory=dict[str, object])


def run_chat(
    scope: RequestScope,
    request: ChatRequest,
    *,
    runner: "RoundRunner | None" = None,
    signals: SignalGuard | None = None,
) -> int:
    """Read what is piped in or typed, and show one round of it, `by` who holds it: the exit code.

    After Ctrl-C, what there was is stored and the exit code is 130; 143 after SIGTERM, 129 after SIGHUP.

    Raises: MaridError; OSError when the answer cannot be written any more.
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
            from marid.app.rounds import run_round  # imported when used: an early interrupt needs none of it

            return show_round(scope, request, resolved, signals, run_round if runner is None else runner)
        except ConversationLocked as error:
            hint = "" if request.lock_timeout else "; --wait-lock SECONDS waits for it"
            raise ConversationLocked(f"{error}{hint}", error.holder) from error
        except KeyboardInterrupt:
            end_terminal_line()
            return signals.exit_code or INTERRUPTED_STATUS


def _print_lock_wait(scope: RequestScope, request: ChatRequest) -> None:
    if not request.lock_timeout:
        return
    # One that is not there yet is made by the round, and nobody holds it.
    with suppress(NotFound):
        holder = scope.stores.conversations.holder(request.conversation)
        if holder is not None:
            print_note(f"waiting for process {holder.pid} on {holder.host}, which works in '{request.conversation}'")


def show_round(
    scope: RequestScope, request: ChatRequest, resolved: ResolvedSettings, signals: SignalGuard, runner: "RoundRunner"
) -> int:
    """Show a round whose prompt is known. Raises: as `run_chat`."""
    display = display_settings(request, resolved)
    return RoundDisplay(scope, signals).run(partial(runner, scope, request), display, request.debug)


def display_settings(request: ChatRequest, resolved: ResolvedSettings) -> DisplaySettings:
    """How answers are shown: by the files, and above them by flags."""
    return resolved.settings.display._replace(**cast("dict[str, bool]", dict(request.display)))
