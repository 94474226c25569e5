"""Messages that conversations have sent each other: who has some, and a round to act on them."""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from marid.app.app import RequestScope
from marid.app.rounds import RoundRequest, run_round
from marid.core.errors import Unavailable
from marid.core.events import EventListener
from marid.core.round_events import RoundEnd, RoundEvent

if TYPE_CHECKING:
    from marid.toolkit.questions import Asker

INBOX_PROMPT = (
    "[Messages from other conversations have arrived; they stand above. The user has not asked for anything: "
    "read them, and do now what they need.]"
)


def inbox_counts(scope: RequestScope, *, archived: bool = False) -> tuple[tuple[str, int], ...]:
    """The conversations with messages in their inbox, by name, and how many. Those that were put away cannot act on
    them, and count only if `archived` ones are wanted; those that cannot be read are left out. Raises: Unavailable.
    """
    memory = scope.stores
    found: list[tuple[str, int]] = []
    for meta in memory.conversations.list():
        if archived or not meta.archived_ms:
            with suppress(Unavailable):
                found.append((meta.name, len(memory.inbox.peek(meta.name))))
    return tuple((name, count) for name, count in found if count)


async def run_inbox_round(
    scope: RequestScope, request: RoundRequest, listener: EventListener[RoundEvent], asker: "Asker | None" = None
) -> RoundEnd | None:
    """A round of `saying.conversation` about its messages; None when there are none that it does not know.

    Raises: as `say`.
    """
    if not await scope.threads.run_shielded(lambda: scope.stores.inbox.peek(request.conversation)):
        return None
    end = await run_round(scope, replace(request, prompt=INBOX_PROMPT, resume=False, automatic=True), listener, asker)
    return None if end.reason == "nothing" else end
