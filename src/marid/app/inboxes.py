"""Messages that conversations have sent each other: who has some, and a round to act on them."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio.to_thread

from marid.app.app import App
from marid.app.say import say
from marid.app.saying import Saying
from marid.core.errors import Unavailable
from marid.core.rounds import End, RoundHappening

if TYPE_CHECKING:
    from marid.toolkit.asking import Asker

PROMPT = (
    "[Messages from other conversations have arrived; they stand above. The user has not asked for anything: "
    "read them, and do now what they need.]"
)


def waiting(app: App, *, archived: bool = False) -> tuple[tuple[str, int], ...]:
    """The conversations with messages in their inbox, by name, and how many. Those that were put away cannot act on
    them, and count only if `archived` ones are wanted; those that cannot be read are left out. Raises: Unavailable.
    """
    memory = app.memory(app.settings)
    found: list[tuple[str, int]] = []
    for meta in memory.conversations.list():
        if archived or not meta.archived_ms:
            with suppress(Unavailable):
                found.append((meta.name, len(memory.inbox.peek(meta.name))))
    return tuple((name, count) for name, count in found if count)


async def check(
    app: App, saying: Saying, emit: Callable[[RoundHappening], None], asker: "Asker | None" = None
) -> End | None:
    """A round of `saying.conversation` about its messages; None when there are none that it does not know.

    Raises: as `say`.
    """
    if not await anyio.to_thread.run_sync(lambda: app.memory(app.settings).inbox.peek(saying.conversation)):
        return None
    end = await say(app, replace(saying, prompt=PROMPT, resume=False, unsaid=True), emit, asker)
    return None if end.reason == "nothing" else end
