"""Messages between conversations: which have some, and rounds to act on them."""

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
    """The conversations that have messages, and how many. Archived ones, which cannot act on them, count only with
    `archived`; those that cannot be read are left out. Raises: Unavailable.
    """
    stores = scope.stores
    found: list[tuple[str, int]] = []
    for meta in stores.conversations.list():
        if archived or not meta.archived_ms:
            with suppress(Unavailable):
                found.append((meta.name, len(stores.inbox.peek(meta.name))))
    return tuple((name, count) for name, count in found if count)


async def run_inbox_round(
    scope: RequestScope, request: RoundRequest, listener: EventListener[RoundEvent], asker: "Asker | None" = None
) -> RoundEnd | None:
    """Run a round about the messages of `request.conversation`; None if all of them are in its history already.

    Raises: as `run_round`.
    """
    if not await scope.threads.run_shielded(lambda: scope.stores.inbox.peek(request.conversation)):
        return None
    end = await run_round(scope, replace(request, prompt=INBOX_PROMPT, resume=False, automatic=True), listener, asker)
    return None if end.reason == "nothing" else end
