"""The next step, as a function of the history: after a crash, an approval or a cancel it is found the same way."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, NamedTuple, TypeAlias

from marid.core.conversation.entry import FAILED, FLOW_CALL, INTERRUPTED, OK, TO_AGENT, TO_USER
from marid.engine.turns import CallRecord, Reply, Turn, UserTurn

LOOP_WARNING_AT, LOOP_END_AT = 3, 6
"""After how many equal calls the model is warned, and the round ends."""
LOOP_WARNING = "\n\n[This is the same call with the same result as before. It will not change: do something else.]"


@dataclass(frozen=True)
class AskModel:
    """It is the model's turn."""


@dataclass(frozen=True)
class RunTools:
    """These calls have no result yet."""

    calls: tuple[CallRecord, ...]


@dataclass(frozen=True)
class Stop:
    """It is the user's turn. `message` is that of `call_user`."""

    reason: Literal["answered", "handed", "loop", "nothing"]
    text: str = ""
    message: str = ""


Step: TypeAlias = AskModel | RunTools | Stop


class CallFingerprint(NamedTuple):
    """What makes two calls the same."""

    name: str
    arguments: str
    result: str


@dataclass(frozen=True)
class HandoffDecision:
    """Whose turn it is after the model's next text, and its prompt or message."""

    tool: str
    text: str = ""


def next_step(turns: Sequence[Turn]) -> Step:
    """The step after these turns."""
    last = turns[-1] if turns else None
    if last is None:
        return Stop("nothing")
    if isinstance(last, UserTurn):
        return AskModel()
    if last.pending:
        return RunTools(last.pending)
    return _after_calls(turns, last) if last.calls else _after_text(last)


def _after_text(reply: Reply) -> Step:
    broke_off = reply.text_entries[-1].status in (FAILED, INTERRUPTED)
    return AskModel() if broke_off else Stop("answered", reply.text)


def _after_calls(turns: Sequence[Turn], reply: Reply) -> Step:
    handed = _handoff_in([reply])
    if handed is not None and handed.tool == TO_USER:
        return Stop("handed", "\n\n".join(part for part in (reply.text, handed.text) if part), handed.text)
    if repeated_replies(call_fingerprints(turns)) >= LOOP_END_AT:
        return Stop("loop", reply.text)
    return AskModel()


def find_handoff(turns: Sequence[Turn]) -> HandoffDecision | None:
    """The handoff that the model chose since the last prompt: to the user, or else the last one to itself."""
    return _handoff_in(_replies_since_user(turns))


def _handoff_in(replies: Sequence[Reply]) -> HandoffDecision | None:
    done = [
        call
        for reply in replies
        for call in reply.calls
        if call.entry.entry_type == FLOW_CALL and call.result is not None and call.result.status == OK
    ]
    if to_user := [call for call in done if call.name == TO_USER]:
        return HandoffDecision(
            TO_USER, "\n\n".join(words for call in to_user if (words := _text_argument(call, "message")))
        )
    return HandoffDecision(TO_AGENT, _text_argument(done[-1], "prompt")) if done else None


def _text_argument(call: CallRecord, name: str) -> str:
    words = (call.arguments or {}).get(name)
    return words if isinstance(words, str) else ""


def call_fingerprints(turns: Sequence[Turn]) -> list[frozenset[CallFingerprint]]:
    """The calls since the last prompt with their results, by reply."""
    return [
        frozenset(
            CallFingerprint(call.name, call.entry.content, call.result.content.removesuffix(LOOP_WARNING))
            for call in reply.calls
            if call.result is not None
        )
        for reply in _replies_since_user(turns)
        if reply.calls
    ]


def repeated_replies(made: Sequence[frozenset[CallFingerprint]]) -> int:
    """How many of the last replies made the same calls with the same results."""
    return sum(1 for _ in takewhile(lambda shapes: shapes == made[-1], reversed(made)))


def consecutive_uses(made: Sequence[frozenset[CallFingerprint]], fingerprint: CallFingerprint) -> int:
    """How many of the last replies made this call."""
    return sum(1 for _ in takewhile(lambda shapes: fingerprint in shapes, reversed(made)))


def _replies_since_user(turns: Sequence[Turn]) -> list[Reply]:
    latest = takewhile(lambda turn: not isinstance(turn, UserTurn), reversed(turns))
    return [turn for turn in latest if isinstance(turn, Reply)][::-1]
