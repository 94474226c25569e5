"""A stream of server-sent events, made whole: what is damaged ends it, and what no client knows is left out."""

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from pydantic_core import from_json

from marid.adapters.gateway.chunk_normalizer import ChunkNormalizer, error_message

MAX_EVENT = 32 << 20
"""Bytes of one event: no model says so much at once, and a line without end would take all memory."""

_DONE = b"[DONE]"
_BOM = b"\xef\xbb\xbf"
_ERROR = b"error:"
_SPECIAL_PREFIXES = (_BOM, _ERROR, b"event: error", b"event:error")
# One event, data in one line with its name before it or nothing: nearly all are, and can be passed on as they are.
_PLAIN = re.compile(rb"(?:event: (?!error)[^\r\n]*\n)?data: ([^\r\n]*)\n\n")
# What nearly all of Anthropic's events are: a piece of the answer, and neither its end nor an error.
_PIECE = "content_block_delta"


class SseValidator:
    """Passes on the events of one answer, as bytes, up to the first whose data is no JSON object.

    It also remembers what tells a whole answer from one that was cut or damaged where nobody can see it: `begun` is
    true once there was an event, `ended` once one said that the answer is complete; what comes afterwards does not
    matter. `fault` says what was lost before that: without it the answer would be another than the model's.
    `complaint` are the words of a service that failed before that, where the library would not notice; `refused` is
    true where an error was the first thing that came.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._seen = 0
        self._normalizer = ChunkNormalizer()
        self.has_events = False
        self.is_complete = False
        self.fault = ""
        self.error_text = ""
        self.began_with_error = False

    def feed(self, data: bytes) -> bytes:
        """The whole events that are there now."""
        if not self._buffer:
            plain = _PLAIN.fullmatch(data)
            if plain is not None and not self.fault and self._can_pass_unchanged(plain[1]):
                return data
            if data.endswith(b"\n\n") and b"\r" not in data:
                return b"".join(map(self._validate_event, data[:-2].split(b"\n\n")))
        self._buffer += data
        self._unify_line_ends()
        passed: list[bytes] = []
        start = 0
        while (end := self._buffer.find(b"\n\n", max(start, self._seen - 1))) >= 0:
            passed.append(self._validate_event(bytes(self._buffer[start:end])))
            start = end + 2
        del self._buffer[:start]
        self._seen = len(self._buffer)
        if self._seen > MAX_EVENT:
            self._buffer.clear()
            self._set_fault(f"sent an event of more than {MAX_EVENT >> 20} MB")
        return b"".join(passed)

    def finish(self) -> bytes:
        """What is left at the end, if it is an event although no blank line follows it; half an event is a cut."""
        rest = bytes(self._buffer).replace(b"\r", b"\n")
        self._buffer.clear()
        self._seen = 0
        fault = self.fault
        passed = self._validate_event(rest.strip(b"\n"))
        self.fault = fault
        return passed + b"".join(b"data: %s\n\n" % one for one in self._normalizer.flush())

    def _unify_line_ends(self) -> None:
        """CR LF and CR become LF; a CR at the very end waits for the LF that may follow."""
        at = self._buffer.find(b"\r", max(0, self._seen - 1))
        if at < 0:
            return
        held = self._buffer.endswith(b"\r")
        tail = self._buffer[at : len(self._buffer) - held].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._buffer[at:] = tail + b"\r" * held
        self._seen = min(self._seen, at)

    def _validate_event(self, event: bytes) -> bytes:
        datas: list[bytes] = []
        others: list[bytes] = []
        for line in event.split(b"\n"):
            if line.startswith(b"data:"):
                datas.append(line[5:].strip())
            elif line.startswith(_SPECIAL_PREFIXES):
                return self._handle_special(event)
            elif line and not line.startswith(b":"):
                others.append(line)
        datas = [data for data in datas if data]
        if not datas or self.fault:
            return b""
        return self._forward(datas, b"".join(b"%s\n" % line for line in others if _is_field(line)))

    def _handle_special(self, event: bytes) -> bytes:
        """A mark before the first event says nothing, and an error ends the answer; one that the library knows, as it
        has an `error` inside, is passed on to it."""
        if _BOM in event:
            return self._validate_event(event.replace(_BOM, b""))
        lines = event.split(b"\n")
        data = b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))
        said = next((line[len(_ERROR) :].strip() for line in lines if line.startswith(_ERROR)), data)
        told = _parse_json(said)
        if said is data and _is_known_error(told):
            return b"" if self.fault else self._forward([data], b"event: error\n")
        self._set_error(told if told is not None else said.decode("utf-8", "replace"))
        return b""

    def _forward(self, datas: list[bytes], head: bytes) -> bytes:
        taken = self._normalize_data(datas[0] if len(datas) == 1 else b"\n".join(datas))
        if taken is not None:
            return _format_events(taken, head)
        # Servers that forget the blank line between two events are more common than data of several lines.
        passed: list[bytes] = []
        for data in datas:
            taken = self._normalize_data(data) if len(datas) > 1 else None
            if taken is None:
                self._set_fault("sent an event that is no JSON object")
                break
            passed.append(_format_events(taken, head))
        return b"".join(passed)

    def _set_fault(self, how: str) -> None:
        if not self.is_complete:
            self.fault = how

    def _set_error(self, told: object) -> None:
        """Remember what a service says of its own failure."""
        if self.is_complete or self.fault:
            return
        self.began_with_error = not self.has_events
        self.error_text = error_message(told) or "it gives no reason"
        self._set_fault("failed")

    def _can_pass_unchanged(self, data: bytes) -> bool:
        """Whether this is an event, and passes as it is: nearly all do."""
        try:
            event: object = from_json(data)
        except ValueError:
            return False
        return isinstance(event, dict) and not self._inspect(cast("dict[str, Any]", event), data)

    def _inspect(self, event: dict[str, Any], data: bytes) -> bool:
        if "choices" not in event:
            if event.get("type") != _PIECE:
                self._inspect_other(event)
            self.has_events = True
            return bool(self.error_text)
        if not self.has_events:
            # OpenRouter puts an error beside a choice that says nothing.
            self.began_with_error = bool(event.get("error"))
            self.has_events = True
        self.is_complete = self.is_complete or _has_reason(event["choices"], "finish_reason")
        return self._normalizer.needs_normalizing(data)

    def _inspect_other(self, event: dict[str, Any]) -> None:
        """An event that is no piece of an answer may be its end, or an error."""
        self.is_complete = self.is_complete or _is_end(event)
        if event.get("error"):
            self.began_with_error = self.began_with_error or not self.has_events
        elif event.get("object") == "error" or event.get("type") == "error":
            self._set_error(event)

    def _normalize_data(self, data: bytes) -> Sequence[bytes] | None:
        """What stands for one event's data, mostly that itself; None for what is no event."""
        if data == _DONE:
            self.is_complete = True
            return (*self._normalizer.flush(), data)
        event = _parse_json(data)
        if not isinstance(event, dict):
            return None
        fields = cast("dict[str, Any]", event)
        if not self._inspect(fields, data):
            return (data,)
        return () if self.error_text else self._normalizer.normalize(fields)


def _format_events(datas: Sequence[bytes], head: bytes) -> bytes:
    return b"".join(b"%sdata: %s\n\n" % (head, data.replace(b"\n", b" ")) for data in datas)


def _parse_json(data: bytes) -> object:
    """None for what even a reader makes nothing of that is slower and takes more."""
    try:
        return from_json(data)
    except ValueError:
        pass
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _is_known_error(told: object) -> bool:
    return isinstance(told, dict) and bool(cast("dict[str, Any]", told).get("error"))


def _is_field(line: bytes) -> bool:
    return line.startswith((b"event:", b"id:", b"retry:"))


def _is_end(event: dict[str, Any]) -> bool:
    """Whether this is where an answer ends, in the words of Anthropic or Google."""
    if "candidates" in event:
        return _has_reason(event["candidates"], "finishReason")
    # Where the request itself was blocked, Google sends no candidate at all.
    return event.get("type") == "message_stop" or "promptFeedback" in event


def _has_reason(several: object, reason: str) -> bool:
    """Whether the first of them says why it ended."""
    first: object = cast("list[object]", several)[0] if several and isinstance(several, list) else None
    return isinstance(first, dict) and bool(cast("dict[str, Any]", first).get(reason))
