"""A round begins: what an earlier one left open is closed, and the user's words are stored with what has come in."""

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from marid.core.conversation import Message
from marid.core.events import Note
from marid.core.rounds import InboxInjected
from marid.engine.ledger import Ledger
from marid.engine.opening import Prompt, prompt_entry, unread
from marid.engine.replies import Stamp
from marid.engine.results import interrupted_entry
from marid.engine.steps import Act, next_step
from marid.engine.turns import Said, Turn
from marid.ports.conversations import Inbox


class Arrived(NamedTuple):
    """What waits in an inbox, what of it the history does not hold yet, and what is wrong with the inbox."""

    waiting: tuple[Message, ...]
    new: tuple[Message, ...]
    problem: str


async def begin(ledger: Ledger, inbox: Inbox, stamp: Stamp, prompt: Prompt) -> bool:
    """Store the prompt. Messages leave the inbox only after that; a crash in between does not repeat them.

    False when nothing was stored: the prompt is about messages, and the history holds all that there are.

    Raises: Unavailable; Refused when the conversation is archived.
    """
    turns = await ledger.turns()
    step = next_step(turns)
    closed = [interrupted_entry(call, stamp) for call in step.calls] if isinstance(step, Act) else []
    post = await arrived(ledger, inbox, stamp, turns)
    if post.problem:
        ledger.emit(Note(post.problem))
    worth = bool(post.new) or not prompt.own
    if worth:
        await ledger.append([*closed, prompt_entry(prompt, post.new, stamp, time.time())])
    await received(ledger, inbox, stamp, post)
    return worth


async def arrived(ledger: Ledger, inbox: Inbox, stamp: Stamp, turns: Sequence[Turn]) -> Arrived:
    """What other conversations have sent to this one. Raises: Unavailable."""
    waiting, problem = await ledger.run(partial(inbox.collect, stamp.name))
    return Arrived(waiting, unread(waiting, turns), problem)


async def received(ledger: Ledger, inbox: Inbox, stamp: Stamp, post: Arrived) -> None:
    """Take it out of the inbox, once it is stored in the conversation. Raises: Unavailable."""
    if post.waiting:
        await ledger.run(partial(inbox.remove, stamp.name, post.waiting))
    if post.new:
        ledger.emit(InboxInjected(len(post.new)))


def round_of(turns: Sequence[Turn]) -> str:
    """The round that the last turn belongs to; empty for somebody else's history."""
    last = turns[-1] if turns else None
    if last is None:
        return ""
    entries = [last.entry] if isinstance(last, Said) else [*last.words, *(call.entry for call in last.calls)]
    return entries[-1].round
