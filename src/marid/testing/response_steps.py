"""A response: its frames, and the steps that send them, faults included."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import responses
from itertools import pairwise
from typing import NamedTuple, TypeAlias, TypeVar

from marid.testing.faults import (
    Cut,
    Fault,
    Gate,
    Hangup,
    Insert,
    Refusal,
    SplitUtf8,
    Stall,
    StreamError,
    Trickle,
    WrongType,
)


class BodyFrame(NamedTuple):
    """Bytes that are sent together; `piece` if they carry a piece of the model's reply."""

    data: bytes
    piece: bool = False


@dataclass(frozen=True, kw_only=True)
class ScriptedResponse:
    """A response and its faults. A stream has no length; any other body is a single frame.

    `error_event` makes the frame that reports a refusal in mid-stream.
    """

    frames: tuple[BodyFrame, ...]
    error_event: Callable[[Refusal], BodyFrame]
    status: int = 200
    kind: str = "application/json"
    stream: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    faults: tuple[Fault, ...] = ()


def encode_json(value: object) -> bytes:
    """JSON without escapes, so that there is UTF-8 to split."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def sse_event(value: object, *, name: str = "", piece: bool = False) -> BodyFrame:
    """A server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return BodyFrame(head + b"data: " + encode_json(value) + b"\n\n", piece=piece)


class Drop(NamedTuple):
    """End the connection in the middle of the response."""

    reset: bool = False


ResponseStep: TypeAlias = bytes | Gate | float | Drop
"""Bytes to send, a gate to wait for, seconds to pause, or the end of the connection."""
_Kind = TypeVar("_Kind")


def response_steps(response: ScriptedResponse) -> list[ResponseStep]:
    """The steps that send a response, with its head. Without a Drop the connection can be used again."""
    waits = [stall.gate for stall in _faults_of(response.faults, Stall) if stall.before_headers]
    if _faults_of(response.faults, Hangup):
        return [*waits, Drop()]
    full = list(_body(response))
    cut = next(iter(_faults_of(response.faults, Cut)), None)
    sent = list(_truncate(full, _cut_offset(cut, response, full))) if cut else full
    clean = cut is None or cut.how == "clean"
    length = None if response.stream else sum(map(_length, sent if clean else full))
    body = list(_encode_chunks(sent, whole=clean)) if response.stream else sent
    ending: list[ResponseStep] = [Drop(reset=cut.how == "reset")] if cut and not clean else []
    return [*waits, _head(response, length), *body, *ending]


def _faults_of(faults: Iterable[Fault], kind: type[_Kind]) -> list[_Kind]:
    return [fault for fault in faults if isinstance(fault, kind)]


def _frame_index(frames: Sequence[BodyFrame], after: int) -> int:
    """How many frames carry the first `after` pieces; all, if there are fewer."""
    if after <= 0:
        return 0
    pieces = [number for number, frame in enumerate(frames, 1) if frame.piece]
    return pieces[after - 1] if after <= len(pieces) else len(frames)


def _body(response: ScriptedResponse) -> Iterator[ResponseStep]:
    """The frames in chunks, with the faults between them; outside of a stream an error replaces the whole body."""
    for index in range(len(response.frames) + 1):
        for fault in response.faults:
            here = _frame_index(response.frames, getattr(fault, "after", 0)) == index
            match fault:
                case Stall(gate=gate, before_headers=False) if here:
                    yield gate
                case Insert(data=data) if here:
                    yield data
                case StreamError(refusal=refusal) if here or not response.stream:
                    yield from _frame_chunks(response.error_event(refusal).data, response.faults)
                    return
                case _:
                    pass
        if index < len(response.frames):
            yield from _frame_chunks(response.frames[index].data, response.faults)


def _frame_chunks(data: bytes, faults: Iterable[Fault]) -> Iterator[ResponseStep]:
    """The chunks of a frame: small ones for a trickle, split inside characters for SplitUtf8."""
    trickle = next(iter(_faults_of(faults, Trickle)), None)
    if trickle:
        for start in range(0, len(data), trickle.size):
            yield data[start : start + trickle.size]
            yield trickle.pause
        return
    # Just after the first byte of each character of several bytes.
    splits = [at for at in range(1, len(data)) if data[at - 1] >= 0xC0 and 0x80 <= data[at] < 0xC0]
    ends = splits if _faults_of(faults, SplitUtf8) else []
    yield from (data[start:end] for start, end in pairwise([0, *ends, len(data)]))


def _cut_offset(cut: Cut, response: ScriptedResponse, full: Sequence[ResponseStep]) -> int:
    """How many bytes of the body come before a cut; without a stream it is in the middle."""
    if cut.bytes is not None:
        return cut.bytes
    if not response.stream:
        return sum(map(_length, full)) // 2 if cut.after or cut.events else 0
    frames = response.frames[: _frame_index(response.frames, cut.after) if cut.events is None else cut.events]
    if len(frames) == len(response.frames):
        return sum(map(_length, full))
    inserts = _faults_of(response.faults, Insert)
    inserted = (insert.data for insert in inserts if _frame_index(response.frames, insert.after) <= len(frames))
    return sum(len(frame.data) for frame in frames) + sum(map(len, inserted))


def _truncate(full: Iterable[ResponseStep], limit: int) -> Iterator[ResponseStep]:
    """The steps up to a cut, with a wait just before it."""
    left = limit
    for step in full:
        if isinstance(step, bytes):
            if left <= 0:
                return
            yield step[:left]
            left -= len(step)
        elif left >= 0:
            yield step


def _length(step: ResponseStep) -> int:
    return len(step) if isinstance(step, bytes) else 0


def _encode_chunks(body: Iterable[ResponseStep], *, whole: bool) -> Iterator[ResponseStep]:
    for step in body:
        yield b"%x\r\n%b\r\n" % (len(step), step) if isinstance(step, bytes) else step
    if whole:
        yield b"0\r\n\r\n"


def _head(response: ScriptedResponse, length: int | None) -> bytes:
    kind = next((fault.kind for fault in _faults_of(response.faults, WrongType)), response.kind)
    framing = {"Transfer-Encoding": "chunked"} if length is None else {"Content-Length": str(length)}
    return response_head(response.status, {"Content-Type": kind, **framing, **response.headers})


def response_head(status: int, headers: Mapping[str, str]) -> bytes:
    """The status line and the headers."""
    lines = [f"HTTP/1.1 {status} {responses.get(status, '')}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
