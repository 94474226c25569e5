"""The entries of a window as turns: prompts, and replies with their calls and results."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TypeAlias

from marid.core.conversation.entry import (
    AGENT,
    FLOW_CALL,
    FLOW_RESULT,
    MESSAGE,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_STARTED,
    Entry,
    call_arguments,
    role_of,
)

_CALLS = frozenset({TOOL_CALL, FLOW_CALL})
_RESULTS = frozenset({TOOL_RESULT, FLOW_RESULT})


@dataclass(frozen=True, kw_only=True)
class UserTurn:
    """A message of a user, or of anyone but the model."""

    entry: Entry


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """A call. `id` is what the model knows it by, which no other call of the window has.

    `started`: it may have had effects.
    """

    entry: Entry
    id: str
    result: Entry | None = None
    started: bool = False

    @property
    def name(self) -> str:
        """The tool's."""
        return self.entry.to or "unknown"

    @property
    def arguments(self) -> dict[str, object] | None:
        """What the tool is called with; None if it is not a JSON object."""
        return call_arguments(self.entry.content)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One reply of the model: its text and its calls."""

    text_entries: tuple[Entry, ...] = ()
    calls: tuple[CallRecord, ...] = ()

    @property
    def text(self) -> str:
        """The text for the reader."""
        return "".join(entry.content for entry in self.text_entries)

    @property
    def pending(self) -> tuple[CallRecord, ...]:
        """The calls that have no result."""
        return tuple(call for call in self.calls if call.result is None)


Turn: TypeAlias = UserTurn | Reply


@dataclass(kw_only=True, eq=False)
class _Call:
    """A call whose result may follow."""

    entry: Entry
    result: Entry | None = None
    started: bool = False


@dataclass(kw_only=True, eq=False)
class _Draft:
    """A reply while its entries are read. `closed`: a further call belongs to another reply."""

    text_entries: list[Entry] = field(default_factory=list[Entry])
    calls: list[_Call] = field(default_factory=list[_Call])
    closed: bool = False


class _TurnBuilder:
    """Matches results and starts with their calls by id, or else by their position in the last reply."""

    def __init__(self) -> None:
        self.turns: list[UserTurn | _Draft] = []
        # By the stored id, which providers reuse, and by a unique one.
        self._calls: dict[str, list[_Call]] = {}

    def add(self, entry: Entry) -> None:
        if entry.entry_type == MESSAGE:
            self._add_message(entry)
        elif entry.entry_type in _CALLS:
            self._add_call(entry)
        elif entry.entry_type in _RESULTS:
            self._add_result(entry)
        elif entry.entry_type == TOOL_STARTED and (call := self._find_by_id(entry.tool_call_id)):
            call.started = True

    def _add_message(self, entry: Entry) -> None:
        if role_of(entry) != AGENT:
            self.turns.append(UserTurn(entry=entry))
            return
        draft = self._open_draft()
        if draft is None or draft.calls or not entry.round or draft.text_entries[-1].round != entry.round:
            draft = self._start_draft()
        draft.text_entries.append(entry)

    def _add_call(self, entry: Entry) -> None:
        draft = self._open_draft() or self._start_draft()
        call = _Call(entry=entry)
        draft.calls.append(call)
        for id in (entry.tool_call_id, _synthetic_id(entry)):
            self._calls.setdefault(id, []).append(call)

    def _add_result(self, entry: Entry) -> None:
        id = entry.tool_call_id
        call = (self._find_by_id(id) if id else None) or self._find_by_position(has_id=bool(id))
        if call is None:
            return  # its call is gone or has a result: providers reject it
        call.result = entry
        last = self.turns[-1]
        if isinstance(last, _Draft):
            last.closed = True

    def _find_by_id(self, id: str) -> _Call | None:
        """The pending call of that id: the first in the last reply, or else the latest."""
        waiting = [call for call in self._calls.get(id, ()) if call.result is None]
        recent = [call for call in waiting if call in self._last_calls()]
        return next(iter(recent or waiting[::-1]), None)

    def _find_by_position(self, *, has_id: bool) -> _Call | None:
        """The first pending call of the last reply; a result with an id does not match a call with another id."""
        waiting = (call for call in self._last_calls() if call.result is None)
        return next((call for call in waiting if not (has_id and call.entry.tool_call_id)), None)

    def _last_calls(self) -> list[_Call]:
        last = self.turns[-1] if self.turns else None
        return last.calls if isinstance(last, _Draft) else []

    def _open_draft(self) -> _Draft | None:
        last = self.turns[-1] if self.turns else None
        return last if isinstance(last, _Draft) and not last.closed else None

    def _start_draft(self) -> _Draft:
        draft = _Draft()
        self.turns.append(draft)
        return draft


def parse_turns(entries: Iterable[Entry]) -> tuple[Turn, ...]:
    """The turns of a window. Entries that are not for the model, and results without a call, are skipped."""
    builder = _TurnBuilder()
    for entry in entries:
        builder.add(entry)
    taken: set[str] = set()
    return tuple(turn if isinstance(turn, UserTurn) else _finish_reply(turn, taken) for turn in builder.turns)


def _finish_reply(draft: _Draft, taken: set[str]) -> Reply:
    calls = tuple(
        CallRecord(entry=call.entry, id=_unique_id(call.entry, taken), result=call.result, started=call.started)
        for call in draft.calls
    )
    return Reply(text_entries=tuple(draft.text_entries), calls=calls)


def _synthetic_id(entry: Entry) -> str:
    """An id made from the entry's own, within the 40 characters that services accept."""
    return f"synth_{entry.id.replace('-', '')}"


def _unique_id(entry: Entry, taken: set[str]) -> str:
    """An id that no earlier call has."""
    made = _synthetic_id(entry)
    names = chain((entry.tool_call_id, made), (f"{made}_{number}" for number in count(2)))
    id = next(name for name in names if name and name not in taken)
    taken.add(id)
    return id
