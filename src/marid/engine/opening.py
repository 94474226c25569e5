"""What a round begins with, and what it goes on with when the model has given the word to itself."""

import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from marid.core.conversation import Message
from marid.core.entry import MESSAGE, SYSTEM, USER, Entry
from marid.engine.messages import PROMPT
from marid.engine.replies import Stamp
from marid.engine.turns import Said, Turn

INBOX = "inbox"
"""A key of metadata: the ids of the messages that were put before a prompt."""

_BEGIN, _END = "--- INBOX MESSAGES ---", "--- END INBOX ---"


class Prompt(NamedTuple):
    """What a round begins with. `own`: the program says it, so that the messages before it are what it is about."""

    text: str
    sender: str
    own: bool = False


def prompt_entry(prompt: Prompt, waiting: Sequence[Message], stamp: Stamp, now: float) -> Entry:
    """What the user says, dated, with the messages of other conversations before it."""
    dated = time.strftime("[%Y%m%d-%H%M%z] ", time.localtime(now))
    bare = "\n".join(message.content for message in waiting) if prompt.own else prompt.text
    return Entry(
        entry_type=MESSAGE,
        content=f"{dated}{_block(waiting)}{prompt.text}",
        sender=prompt.sender,
        to=stamp.name,
        role=USER,
        round=stamp.round,
        metadata=_metadata(bare, waiting),
    )


def _metadata(bare: str, waiting: Sequence[Message]) -> dict[str, object]:
    return {PROMPT: bare, **({INBOX: [message.id for message in waiting]} if waiting else {})}


def continuation_entry(
    prompt: str, waiting: Sequence[Message], fuel: tuple[int, int] | None, stamp: Stamp, fallback: str
) -> Entry:
    """What the model goes on with: messages that have come, who sends it, what fuel is left, and its own prompt."""
    left = f"; fuel: {fuel[0]} of {fuel[1]} requests left" if fuel else ""
    line = f"[You have the word again{left}. Without another call, {fallback} follows your answer.]"
    return Entry(
        entry_type=MESSAGE,
        content=_block(waiting) + (f"{line}\n{prompt}" if prompt.strip() else line),
        sender=SYSTEM,
        to=stamp.name,
        role=USER,
        round=stamp.round,
        metadata=_metadata(prompt, waiting),
    )


def unread(waiting: Sequence[Message], turns: Collection[Turn]) -> tuple[Message, ...]:
    """Without those that the history holds already: a crash came before they were taken out of the inbox.

    What comes under the id of another is not that one.
    """
    said = [turn.entry for turn in turns if isinstance(turn, Said)]
    return tuple(message for message in dict.fromkeys(waiting) if not any(_holds(entry, message) for entry in said))


def _holds(entry: Entry, message: Message) -> bool:
    keys = entry.metadata.get(INBOX)
    return isinstance(keys, list) and message.id in keys and f"\n{_told(message)}\n" in entry.content


def _block(waiting: Sequence[Message]) -> str:
    """No message can end the block or speak for another sender."""
    if not waiting:
        return ""
    return "\n".join((_BEGIN, *map(_told, waiting), _END)) + "\n\n"


def _told(message: Message) -> str:
    return _indented(f"[From: {_name(message.sender)}] {message.content}")


def _name(sender: str) -> str:
    return " ".join(sender.replace("]", " ").split())


def _indented(text: str) -> str:
    # All that some reader takes for the end of a line.
    return "\n  ".join(text.splitlines())
