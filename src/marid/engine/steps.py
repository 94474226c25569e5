"""The next step, as a function of the history: after a crash, an approval or a cancel it is found the same way."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, NamedTuple, TypeAlias

from marid.core.entry import FAILED, FLOW_CALL, INTERRUPTED, OK, TO_AGENT, TO_USER
from marid.engine.messages import parsed
from marid.engine.turns import Made, Reply, Said, Turn

WARNED_AT, ENDED_AT = 3, 6
"""After how many times the same, a model is warned of its loop, and a round ended."""
WARNING = "\n\n[This is the same call with the same result as before. It will not change: do something else.]"


@dataclass(frozen=True)
class Ask:
    """The model has the word."""


@dataclass(frozen=True)
class Act:
    """These calls have no result yet."""

    calls: tuple[Made, ...]


@dataclass(frozen=True)
class Rest:
    """There is nothing to do: the user has the word. `message` is what `call_user` says to him."""

    reason: Literal["answered", "handed", "loop", "nothing"]
    text: str = ""
    message: str = ""


Step: TypeAlias = Ask | Act | Rest


class Shape(NamedTuple):
    """What makes two calls the same."""

    name: str
    arguments: str
    result: str


@dataclass(frozen=True)
class Handed:
    """Who has the word after the model's next words, and with which prompt or message."""

    name: str
    words: str = ""


def next_step(turns: Sequence[Turn]) -> Step:
    """What comes next after these turns."""
    last = turns[-1] if turns else None
    if last is None:
        return Rest("nothing")
    if isinstance(last, Said):
        return Ask()
    if last.pending:
        return Act(last.pending)
    return _after_calls(turns, last) if last.calls else _after_words(last)


def _after_words(reply: Reply) -> Step:
    broke_off = reply.words[-1].status in (FAILED, INTERRUPTED)
    return Ask() if broke_off else Rest("answered", reply.text)


def _after_calls(turns: Sequence[Turn], reply: Reply) -> Step:
    handed = _handed([reply])
    if handed is not None and handed.name == TO_USER:
        return Rest("handed", "\n\n".join(part for part in (reply.text, handed.words) if part), handed.words)
    if in_a_row(shapes(turns)) >= ENDED_AT:
        return Rest("loop", reply.text)
    return Ask()


def handed(turns: Sequence[Turn]) -> Handed | None:
    """The handoff that the model has decided on since anybody else spoke: to the user, or else the last to itself."""
    return _handed(_since_said(turns))


def _handed(replies: Sequence[Reply]) -> Handed | None:
    done = [
        call
        for reply in replies
        for call in reply.calls
        if call.entry.entry_type == FLOW_CALL and call.result is not None and call.result.status == OK
    ]
    if to_user := [call for call in done if call.name == TO_USER]:
        return Handed(TO_USER, "\n\n".join(words for call in to_user if (words := _words(call, "message"))))
    return Handed(TO_AGENT, _words(done[-1], "prompt")) if done else None


def _words(call: Made, name: str) -> str:
    words = (parsed(call.entry.content) or {}).get(name)
    return words if isinstance(words, str) else ""


def shapes(turns: Sequence[Turn]) -> list[frozenset[Shape]]:
    """The calls with their results since anybody but the model spoke, reply by reply: one reply alone is no loop."""
    return [
        frozenset(
            Shape(call.name, call.entry.content, call.result.content.removesuffix(WARNING))
            for call in reply.calls
            if call.result is not None
        )
        for reply in _since_said(turns)
        if reply.calls
    ]


def in_a_row(made: Sequence[frozenset[Shape]]) -> int:
    """How many replies in a row made the same calls, which came to the same."""
    return sum(1 for _ in takewhile(lambda shapes: shapes == made[-1], reversed(made)))


def times(made: Sequence[frozenset[Shape]], shape: Shape) -> int:
    """How many of the last replies in a row made a call."""
    return sum(1 for _ in takewhile(lambda shapes: shape in shapes, reversed(made)))


def _since_said(turns: Sequence[Turn]) -> list[Reply]:
    latest = takewhile(lambda turn: not isinstance(turn, Said), reversed(turns))
    return [turn for turn in latest if isinstance(turn, Reply)][::-1]
