"""The parts of an answer's body, in the order in which they go out."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from marid.testing.faults import Fault, Refusal

JSON = "application/json"
EVENTS = "text/event-stream"
PAGE = "text/html; charset=utf-8"


@dataclass(frozen=True, kw_only=True)
class BodyFrame:
    """Bytes that go out together; `piece` if they carry a piece of what the model says."""

    data: bytes
    piece: bool = False


@dataclass(frozen=True, kw_only=True)
class ScriptedResponse:
    """An answer and how it is to be spoilt. A stream has no length; anything else is a single frame.

    `error_event` tells of a refusal in the middle of it.
    """

    frames: tuple[BodyFrame, ...]
    error_event: Callable[[Refusal], BodyFrame]
    status: int = 200
    kind: str = JSON
    stream: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    faults: tuple[Fault, ...] = ()


def encode_json(value: object) -> bytes:
    """JSON with its characters as they are, so that there is UTF-8 to split."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def sse_event(value: object, *, name: str = "", piece: bool = False) -> BodyFrame:
    """A server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return BodyFrame(data=head + b"data: " + encode_json(value) + b"\n\n", piece=piece)
