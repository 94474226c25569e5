"""A round begins: what an earlier one left open is closed, and the user's words are stored with what has come in."""

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from marid.core.conversation.records import InboxMessage
from marid.core.events import Notice
from marid.core.hooks import Hooks
from marid.core.round_events import InboxInjected
from marid.engine.async_conversation import AsyncConversation
from marid.engine.round_entries import RoundPrompt, RoundStamp, interrupted_entry, prompt_entry, unread_messages
from marid.engine.round_hooks import RoundHooks
from marid.engine.steps import RunTools, next_step
from marid.engine.turns import Turn, UserTurn
from marid.ports.conversations import Inbox


class InboxArrivals(NamedTuple):
    """What waits in an inbox, what of it the history does not hold yet, and what is wrong with the inbox."""

    waiting: tuple[InboxMessage, ...]
    unread: tuple[InboxMessage, ...]
    problem: str


async def start_round(
    conversation: AsyncConversation, inbox: Inbox, stamp: RoundStamp, prompt: RoundPrompt, hooks: Hooks | None = None
) -> bool:
    """Store the prompt. Messages leave the inbox only after that; a crash in between does not repeat them.

    False when nothing was stored: the prompt is about messages, and the history holds all that there are.

    Raises: Unavailable; Refused when the conversation is archived.
    """
    turns = await conversation.turns()
    step = next_step(turns)
    closed = [interrupted_entry(call, stamp) for call in step.calls] if isinstance(step, RunTools) else []
    post = await collect_inbox(conversation, inbox, stamp, turns)
    if post.problem:
        await conversation.emit(Notice(post.problem))
    worth = bool(post.unread) or not prompt.automatic
    if worth:
        prompt = prompt._replace(text=await RoundHooks(conversation, stamp, hooks).change_prompt(prompt.text))
        await conversation.append([*closed, prompt_entry(prompt, post.unread, stamp, time.time())])
    await clear_inbox(conversation, inbox, stamp, post)
    return worth


async def collect_inbox(
    conversation: AsyncConversation, inbox: Inbox, stamp: RoundStamp, turns: Sequence[Turn]
) -> InboxArrivals:
    """What other conversations have sent to this one. Raises: Unavailable."""
    waiting, problem = await conversation.run_in_thread(partial(inbox.collect, stamp.conversation))
    return InboxArrivals(waiting, unread_messages(waiting, turns), problem)


async def clear_inbox(conversation: AsyncConversation, inbox: Inbox, stamp: RoundStamp, post: InboxArrivals) -> None:
    """Take it out of the inbox, once it is stored in the conversation. Raises: Unavailable."""
    if post.waiting:
        await conversation.run_in_thread(partial(inbox.remove, stamp.conversation, post.waiting))
    if post.unread:
        await conversation.emit(InboxInjected(len(post.unread)))


def last_round_id(turns: Sequence[Turn]) -> str:
    """The round that the last turn belongs to; empty for somebody else's history."""
    last = turns[-1] if turns else None
    if last is None:
        return ""
    entries = [last.entry] if isinstance(last, UserTurn) else [*last.text_entries, *(call.entry for call in last.calls)]
    return entries[-1].round
