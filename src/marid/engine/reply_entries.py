"""What a model has answered, as entries: words first, then the calls, thoughts with what followed them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, cast

from marid.core.conversation.entry import (
    AGENT,
    FLOW_CALL,
    MESSAGE,
    OK,
    THOUGHTS,
    TO_AGENT,
    TO_USER,
    TOOL_CALL,
    USER,
    Entry,
)
from marid.core.model_io import Message, MessagePart, Reasoning, Text, ToolCall, ToolResult
from marid.engine.messages import SEAL

FLOW_TOOLS = frozenset({TO_USER, TO_AGENT})


class RoundStamp(NamedTuple):
    """What all entries of a round have: the conversation's name, and the round."""

    conversation: str
    round: str


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
