"""Conversations answer what others have sent them, one after the other."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import anyio

from marid.app.app import RequestScope
from marid.app.inboxes import inbox_counts, run_inbox_round
from marid.core.caller import Caller
from marid.core.conversation.entry import new_id
from marid.core.errors import INTERRUPTED_STATUS, MaridError, exit_code
from marid.core.events import Event, Notice
from marid.core.round_events import RoundEnd
from marid.faces.cli.chat.chat_round import ChatRequest, RoundRunner, display_settings, show_round
from marid.faces.cli.view.console import error_text, print_note
from marid.faces.signals import SignalGuard

if TYPE_CHECKING:
    from marid.app.rounds import RoundRequest
    from marid.core.events import EventListener
    from marid.core.round_events import RoundEvent
    from marid.toolkit.questions import Asker


_EMPTY = "nothing waits for '{}'"


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
                print_note(_EMPTY.format(name))
                continue
            if several:
                print_note(f"'{name}' answers what it was sent")
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
        print_note("nothing waits in any inbox")
    return code


def _print_failure(scope: RequestScope, name: str, error: MaridError) -> None:
    """What went wrong, and what goes on from there: a round that had begun has taken the messages."""
    waits = scope.stores.inbox.peek(name)
    print_note(
        f"{name}: {error_text(error)}; {'its messages wait' if waits else f'`marid -C {name} resume` goes on there'}"
    )


async def _check_inbox(
    scope: RequestScope, request: "RoundRequest", listener: "EventListener[RoundEvent]", asker: "Asker | None"
) -> RoundEnd | None:
    end = await run_inbox_round(scope, request, listener, asker)
    if end is None:
        await listener(Event(new_id(), 0, Caller(face="cli"), Notice(_EMPTY.format(request.conversation))))
    return end
