"""The entries of a round: the prompt, the model's replies and calls, and the results."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from marid.core.conversation.entry import (
    AGENT,
    FAILED,
    FLOW_CALL,
    FLOW_RESULT,
    INTERRUPTED,
    MESSAGE,
    OK,
    SYSTEM,
    THOUGHTS,
    TO_AGENT,
    TO_USER,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_STARTED,
    USER,
    Entry,
)
from marid.core.conversation.records import InboxMessage
from marid.core.model_io import Message, MessagePart, Reasoning, Text, ToolCall, ToolResult
from marid.engine.model_requests import PROMPT_KEY, SEAL
from marid.engine.turns import CallRecord, Turn, UserTurn
from marid.toolkit.outcome import Outcome, ToolOutput


class RoundStamp(NamedTuple):
    """What all entries of a round have: the conversation's name, and the round."""

    conversation: str
    round: str


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


MAX_RESULT_BYTES = 64 * 1024
"""Bytes of one result that a model reads."""
OUTCOME_UNKNOWN = (
    "interrupted: this call had begun when the work broke off, and nobody knows whether it happened. "
    "Look before you make it again."
)
NOT_CALLED = "interrupted: the work broke off before this call was made; nothing happened."


def result_entry(call: CallRecord, outcome: Outcome, stamp: RoundStamp) -> Entry:
    """A result as the model reads it."""
    text = outcome.text if isinstance(outcome, ToolOutput) else outcome.text[:MAX_RESULT_BYTES]
    return _entry(call, text, OK if outcome.ok else FAILED, stamp)


def interrupted_entry(call: CallRecord, stamp: RoundStamp) -> Entry:
    """The result of a call that nobody will make any more, or that somebody may have made."""
    return _entry(call, OUTCOME_UNKNOWN if call.started else NOT_CALLED, INTERRUPTED, stamp)


def started_entry(call: CallRecord, stamp: RoundStamp) -> Entry:
    """The mark before whatever a call does that cannot be taken back."""
    return Entry(
        entry_type=TOOL_STARTED, sender=stamp.conversation, to=call.name, round=stamp.round, tool_call_id=call.id
    )


def _entry(call: CallRecord, text: str, status: str, stamp: RoundStamp) -> Entry:
    return Entry(
        entry_type=FLOW_RESULT if call.entry.entry_type == FLOW_CALL else TOOL_RESULT,
        content=text,
        sender=call.name,
        to=stamp.conversation,
        status=status,
        round=call.entry.round or stamp.round,
        tool_call_id=call.id,
    )


FLOW_TOOLS = frozenset({TO_USER, TO_AGENT})


def reply_entries(reply: Message, stamp: RoundStamp, status: str = OK) -> tuple[Entry, ...]:
    """The entries of one answer, to be stored in one append. Blank words are none; one leading newline is left out."""
    sorting = _ReplyEntryBuilder(stamp, status)
    for part in _join_texts(reply.parts):
        match part:
            case Reasoning():
                sorting.thoughts.append({"text": part.text, **_seal_metadata(part.seal)})
            case Text():
                if part.text.strip():
                    sorting.add_text(part)
            case ToolCall():
                sorting.add_call(part)
            case ToolResult():
                pass  # a model gives none
    return sorting.entries()


def _join_texts(parts: Iterable[MessagePart]) -> Iterator[MessagePart]:
    """Pieces of text with nothing between them are one."""
    last: Text | None = None
    for part in parts:
        if isinstance(part, Text) and last is not None and not (part.seal or last.seal):
            last = replace(last, text=last.text + part.text)
            continue
        if last is not None:
            yield last
        last = part if isinstance(part, Text) else None
        if not isinstance(part, Text):
            yield part
    if last is not None:
        yield last


class _ReplyEntryBuilder:
    def __init__(self, stamp: RoundStamp, status: str) -> None:
        self._stamp = stamp
        self._status = status
        self.thoughts: list[Mapping[str, object]] = []
        self.texts: list[Entry] = []
        self.calls: list[Entry] = []
        self._leading: list[Mapping[str, object]] | None = None

    def entries(self) -> tuple[Entry, ...]:
        """Words first, and before everything what the model thought first, though a call followed it."""
        entries = [*self.texts, *self.calls]
        if self._leading:
            own = entries[0].metadata
            thoughts = [*self._leading, *cast("list[object]", own.get(THOUGHTS, []))]
            entries[0] = entries[0]._replace(metadata={**own, THOUGHTS: thoughts})
        return tuple(entries)

    def add_text(self, part: Text) -> None:
        entry = Entry(
            entry_type=MESSAGE,
            content=part.text if self.texts else part.text.removeprefix("\n"),
            sender=self._stamp.conversation,
            to=USER,
            role=AGENT,
            status=self._status,
            round=self._stamp.round,
            metadata=self._entry_metadata(part.seal),
        )
        self.texts.append(entry)

    def add_call(self, call: ToolCall) -> None:
        entry = Entry(
            entry_type=FLOW_CALL if call.name in FLOW_TOOLS else TOOL_CALL,
            content=call.arguments,
            sender=self._stamp.conversation,
            to=call.name,
            role=AGENT,
            round=self._stamp.round,
            tool_call_id=call.id,
            metadata=self._entry_metadata(call.seal),
        )
        self.calls.append(entry)

    def _entry_metadata(self, seal: str) -> Mapping[str, object]:
        thoughts, self.thoughts = self.thoughts, []
        if self._leading is None:
            self._leading, thoughts = thoughts, []
        return {**({THOUGHTS: thoughts} if thoughts else {}), **_seal_metadata(seal)}


def _seal_metadata(seal: str) -> dict[str, object]:
    return {SEAL: seal} if seal else {}
