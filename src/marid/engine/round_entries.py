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
    """The prompt of a round. An `automatic` one comes from the program, about the messages before it."""

    text: str
    sender: str
    automatic: bool = False


def prompt_entry(prompt: RoundPrompt, waiting: Sequence[InboxMessage], stamp: RoundStamp, now: float) -> Entry:
    """The prompt with its date, after the messages of other conversations."""
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
    """The prompt with which the model continues by itself: new messages, the fuel that is left, its own text."""
    left = f"; fuel: {fuel[0]} of {fuel[1]} requests left" if fuel else ""
    line = f"[It is your turn again{left}. Unless you call another, {fallback} follows your answer.]"
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
    """The messages that are not in the history; after a crash the inbox may still have some that are.

    A message with the id of another one counts as new.
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
    # At everything that any reader takes for a line end.
    return "\n  ".join(text.splitlines())


MAX_RESULT_BYTES = 64 * 1024
"""Bytes of one result that a model gets."""
OUTCOME_UNKNOWN = (
    "interrupted: this call had started; it may or may not have had an effect. Check before you repeat it."
)
NOT_CALLED = "interrupted: this call was not run."


def result_entry(call: CallRecord, outcome: Outcome, stamp: RoundStamp) -> Entry:
    """The result of a call as the model reads it."""
    text = outcome.text if isinstance(outcome, ToolOutput) else outcome.text[:MAX_RESULT_BYTES]
    return _entry(call, text, OK if outcome.ok else FAILED, stamp)


def interrupted_entry(call: CallRecord, stamp: RoundStamp) -> Entry:
    """The result of a call that was interrupted, before or after it started."""
    return _entry(call, OUTCOME_UNKNOWN if call.started else NOT_CALLED, INTERRUPTED, stamp)


def started_entry(call: CallRecord, stamp: RoundStamp) -> Entry:
    """Stored before a call does something that cannot be undone."""
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
    """The entries of a reply, for one append. Blank text is dropped, and so is one leading newline."""
    builder = _ReplyEntryBuilder(stamp, status)
    for part in _join_texts(reply.parts):
        match part:
            case Reasoning():
                builder.thoughts.append({"text": part.text, **_seal_metadata(part.seal)})
            case Text():
                if part.text.strip():
                    builder.add_text(part)
            case ToolCall():
                builder.add_call(part)
            case ToolResult():
                pass  # replies have none
    return builder.entries()


def _join_texts(parts: Iterable[MessagePart]) -> Iterator[MessagePart]:
    """Join adjacent pieces of text."""
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
        """Text first; the first reasoning goes to the first entry, even if a call followed it."""
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
