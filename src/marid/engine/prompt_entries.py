"""What a round begins with, and what it goes on with when the model has given the word to itself."""

import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from marid.core.conversation.entry import MESSAGE, SYSTEM, USER, Entry
from marid.core.conversation.records import InboxMessage
from marid.engine.messages import PROMPT_KEY
from marid.engine.reply_entries import RoundStamp
from marid.engine.turns import Turn, UserTurn

INBOX_KEY = "inbox"
"""A key of metadata: the ids of the messages that were put before a prompt."""

_BEGIN, _END = "--- INBOX MESSAGES ---", "--- END INBOX ---"


class RoundPrompt(NamedTuple):
    """What a round begins with. `own`: the program says it, so that the messages before it are what it is about."""

    text: str
    sender: str
    automatic: bool = False


def prompt_entry(prompt: RoundPrompt, waiting: Sequence[InboxMessage], stamp: RoundStamp, now: float) -> Entry:
    """What the user says, dated, with the messages of other conversations before it."""
    dated = time.strftime("[%Y%m%d-%H%M%z] ", time.localtime(now))
    bare = "\n".join(message.content for message in waiting) if prompt.automatic else prompt.text
    return Entry(
        entry_type=MESSAGE,
        content=f"{dated}{_inbox_block(waiting)}{prompt.text}",
        sender=prompt.sender,
        to=stamp.conversation,
        role=USER,
        round=stamp.round,
        metadata=_metadata(bare, waiting),
    )


def _metadata(bare: str, waiting: Sequence[InboxMessage]) -> dict[str, object]:
    return {PROMPT_KEY: bare, **({INBOX_KEY: [message.id for message in waiting]} if waiting else {})}


def continuation_entry(
    prompt: str, waiting: Sequence[InboxMessage], fuel: tuple[int, int] | None, stamp: RoundStamp, fallback: str
) -> Entry:
    """What the model goes on with: messages that have come, who sends it, what fuel is left, and its own prompt."""
    left = f"; fuel: {fuel[0]} of {fuel[1]} requests left" if fuel else ""
    line = f"[You have the word again{left}. Without another call, {fallback} follows your answer.]"
    return Entry(
        entry_type=MESSAGE,
        content=_inbox_block(waiting) + (f"{line}\n{prompt}" if prompt.strip() else line),
        sender=SYSTEM,
        to=stamp.conversation,
        role=USER,
        round=stamp.round,
        metadata=_metadata(prompt, waiting),
    )


def unread_messages(waiting: Sequence[InboxMessage], turns: Collection[Turn]) -> tuple[InboxMessage, ...]:
    """Without those that the history holds already: a crash came before they were taken out of the inbox.

    What comes under the id of another is not that one.
    """
    said = [turn.entry for turn in turns if isinstance(turn, UserTurn)]
    return tuple(
        message for message in dict.fromkeys(waiting) if not any(_contains_message(entry, message) for entry in said)
    )


def _contains_message(entry: Entry, message: InboxMessage) -> bool:
    keys = entry.metadata.get(INBOX_KEY)
    return isinstance(keys, list) and message.id in keys and f"\n{_message_line(message)}\n" in entry.content


def _inbox_block(waiting: Sequence[InboxMessage]) -> str:
    """No message can end the block or speak for another sender."""
    if not waiting:
        return ""
    return "\n".join((_BEGIN, *map(_message_line, waiting), _END)) + "\n\n"


def _message_line(message: InboxMessage) -> str:
    return _indent_lines(f"[From: {_sender_label(message.sender)}] {message.content}")


def _sender_label(sender: str) -> str:
    return " ".join(sender.replace("]", " ").split())


def _indent_lines(text: str) -> str:
    # All that some reader takes for the end of a line.
    return "\n  ".join(text.splitlines())
