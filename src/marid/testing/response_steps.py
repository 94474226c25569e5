"""An answer turned into what the server does, step by step: sends, waits, and how it ends."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, TypeVar

from marid.testing.faults import Cut, Fault, Gate, Hangup, Insert, SplitUtf8, Stall, StreamError, Trickle, WrongType
from marid.testing.http1 import response_head
from marid.testing.response_body import BodyFrame, ScriptedResponse


@dataclass(frozen=True, kw_only=True)
class Send:
    """Bytes that go out at once."""

    data: bytes


@dataclass(frozen=True, kw_only=True)
class WaitForGate:
    """Nothing happens until the gate is released."""

    gate: Gate


@dataclass(frozen=True, kw_only=True)
class Pause:
    """Nothing happens for so many seconds."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Drop:
    """The connection ends in mid-answer."""

    reset: bool = False


ResponseStep: TypeAlias = Send | WaitForGate | Pause | Drop
_Kind = TypeVar("_Kind")


def response_steps(answer: ScriptedResponse) -> list[ResponseStep]:
    """All that is to be done for an answer, its head included. Without a Drop the connection can be used again."""
    waits: list[ResponseStep] = [
        WaitForGate(gate=stall.gate) for stall in _faults_of(answer.faults, Stall) if stall.before_headers
    ]
    if _faults_of(answer.faults, Hangup):
        return [*waits, Drop()]
    full = list(_body(answer))
    cut = next(iter(_faults_of(answer.faults, Cut)), None)
    kept = list(_truncate(full, _cut_offset(cut, answer, full))) if cut else full
    clean = cut is None or cut.how == "clean"
    declared = None if answer.stream else sum(map(_length, kept if clean else full))
    body = list(_encode_chunks(kept, whole=clean)) if answer.stream else kept
    ending: list[ResponseStep] = [Drop(reset=cut.how == "reset")] if cut and not clean else []
    return [*waits, Send(data=_head(answer, declared)), *body, *ending]


def _faults_of(faults: Iterable[Fault], kind: type[_Kind]) -> list[_Kind]:
    return [fault for fault in faults if isinstance(fault, kind)]


def _frame_index(frames: Sequence[BodyFrame], after: int) -> int:
    """How many frames go out before so many pieces have; all, if there are fewer."""
    if after <= 0:
        return 0
    pieces = [place for place, frame in enumerate(frames, 1) if frame.piece]
    return pieces[after - 1] if after <= len(pieces) else len(frames)


def _fault_positions(answer: ScriptedResponse) -> list[tuple[int, Stall | Insert | StreamError]]:
    """Faults with the frame that they come before; an error that is no event can only take the place of the whole."""
    return [
        (0 if isinstance(fault, StreamError) and not answer.stream else _frame_index(answer.frames, fault.after), fault)
        for fault in answer.faults
        if isinstance(fault, Insert | StreamError) or (isinstance(fault, Stall) and not fault.before_headers)
    ]


def _body(answer: ScriptedResponse) -> Iterator[ResponseStep]:
    """The frames with what stands between them, each in as many chunks as the faults make of it."""
    placed = _fault_positions(answer)
    for place in range(len(answer.frames) + 1):
        for fault in [fault for at, fault in placed if at == place]:
            match fault:
                case Stall(gate=gate):
                    yield WaitForGate(gate=gate)
                case Insert(data=data):
                    yield Send(data=data)
                case StreamError(refusal=refusal):
                    yield from _frame_chunks(answer.error_event(refusal).data, answer.faults)
                    return
        if place < len(answer.frames):
            yield from _frame_chunks(answer.frames[place].data, answer.faults)


def _frame_chunks(data: bytes, faults: Iterable[Fault]) -> Iterator[ResponseStep]:
    """The chunks of a frame; a trickle makes its own, a split only those inside characters."""
    trickle = next(iter(_faults_of(faults, Trickle)), None)
    if trickle:
        for start in range(0, len(data), trickle.size):
            yield Send(data=data[start : start + trickle.size])
            yield Pause(seconds=trickle.pause)
        return
    inner = (
        [place for place in range(1, len(data)) if _splits_character(data, place)]
        if _faults_of(faults, SplitUtf8)
        else []
    )
    yield from (Send(data=data[start:end]) for start, end in pairwise([0, *inner, len(data)]))


def _splits_character(data: bytes, place: int) -> bool:
    """Whether `place` is just after the first byte of a character of several bytes."""
    return data[place - 1] >= 0xC0 and 0x80 <= data[place] < 0xC0


def _cut_offset(cut: Cut, answer: ScriptedResponse, full: Sequence[ResponseStep]) -> int:
    """After how many bytes of the body a cut comes; in a body that is no stream, in its middle."""
    if cut.bytes is not None:
        return cut.bytes
    if not answer.stream:
        return sum(map(_length, full)) // 2 if cut.after or cut.events else 0
    frames = answer.frames[: _frame_index(answer.frames, cut.after) if cut.events is None else cut.events]
    if len(frames) == len(answer.frames):
        return sum(map(_length, full))
    return sum(len(frame.data) for frame in frames) + _inserted_bytes(answer, len(frames))


def _inserted_bytes(answer: ScriptedResponse, place: int) -> int:
    """How many bytes were inserted before the frame at `place`."""
    inserts = _faults_of(answer.faults, Insert)
    return sum(len(insert.data) for insert in inserts if _frame_index(answer.frames, insert.after) <= place)


def _truncate(full: Iterable[ResponseStep], limit: int) -> Iterator[ResponseStep]:
    """What happens up to a cut; a wait that stands just before it still happens."""
    left = limit
    for act in full:
        if isinstance(act, Send):
            if left <= 0:
                return
            yield Send(data=act.data[:left])
            left -= len(act.data)
        elif left >= 0:
            yield act


def _length(act: ResponseStep) -> int:
    return len(act.data) if isinstance(act, Send) else 0


def _encode_chunks(body: Iterable[ResponseStep], *, whole: bool) -> Iterator[ResponseStep]:
    for act in body:
        if isinstance(act, Send):
            yield Send(data=b"%x\r\n%b\r\n" % (len(act.data), act.data))
        else:
            yield act
    if whole:
        yield Send(data=b"0\r\n\r\n")


def _head(answer: ScriptedResponse, declared: int | None) -> bytes:
    kind = next((fault.kind for fault in _faults_of(answer.faults, WrongType)), answer.kind)
    length = {"Transfer-Encoding": "chunked"} if declared is None else {"Content-Length": str(declared)}
    return response_head(answer.status, {"Content-Type": kind, **length, **answer.headers})
