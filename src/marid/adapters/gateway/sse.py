"""A stream of server-sent events, made whole: what is damaged ends it, and what no client knows is left out."""

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from pydantic_core import from_json

from marid.adapters.gateway.quirks import Mender, error_words

MOST_EVENT = 32 << 20
"""Bytes of one event: no model says so much at once, and a line without end would take all memory."""

_DONE = b"[DONE]"
_MARK = b"\xef\xbb\xbf"
_ERROR = b"error:"
_ODD = (_MARK, _ERROR, b"event: error", b"event:error")
# One event, data in one line with its name before it or nothing: nearly all are, and can be passed on as they are.
_PLAIN = re.compile(rb"(?:event: (?!error)[^\r\n]*\n)?data: ([^\r\n]*)\n\n")
# What nearly all of Anthropic's events are: a piece of the answer, and neither its end nor an error.
_PIECE = "content_block_delta"


class Sieve:
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
        self._mender = Mender()
        self.begun = False
        self.ended = False
        self.fault = ""
        self.complaint = ""
        self.refused = False

    def feed(self, data: bytes) -> bytes:
        """The whole events that are there now."""
        if not self._buffer:
            plain = _PLAIN.fullmatch(data)
            if plain is not None and not self.fault and self._is_plain(plain[1]):
                return data
            if data.endswith(b"\n\n") and b"\r" not in data:
                return b"".join(map(self._judged, data[:-2].split(b"\n\n")))
        self._buffer += data
        self._unify_line_ends()
        passed: list[bytes] = []
        start = 0
        while (end := self._buffer.find(b"\n\n", max(start, self._seen - 1))) >= 0:
            passed.append(self._judged(bytes(self._buffer[start:end])))
            start = end + 2
        del self._buffer[:start]
        self._seen = len(self._buffer)
        if self._seen > MOST_EVENT:
            self._buffer.clear()
            self._lose(f"sent an event of more than {MOST_EVENT >> 20} MB")
        return b"".join(passed)

    def finish(self) -> bytes:
        """What is left at the end, if it is an event although no blank line follows it; half an event is a cut."""
        rest = bytes(self._buffer).replace(b"\r", b"\n")
        self._buffer.clear()
        self._seen = 0
        fault = self.fault
        passed = self._judged(rest.strip(b"\n"))
        self.fault = fault
        return passed + b"".join(b"data: %s\n\n" % one for one in self._mender.rest())

    def _unify_line_ends(self) -> None:
        """CR LF and CR become LF; a CR at the very end waits for the LF that may follow."""
        at = self._buffer.find(b"\r", max(0, self._seen - 1))
        if at < 0:
            return
        held = self._buffer.endswith(b"\r")
        tail = self._buffer[at : len(self._buffer) - held].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._buffer[at:] = tail + b"\r" * held
        self._seen = min(self._seen, at)

    def _judged(self, event: bytes) -> bytes:
        datas: list[bytes] = []
        others: list[bytes] = []
        for line in event.split(b"\n"):
            if line.startswith(b"data:"):
                datas.append(line[5:].strip())
            elif line.startswith(_ODD):
                return self._odd(event)
            elif line and not line.startswith(b":"):
                others.append(line)
        datas = [data for data in datas if data]
        if not datas or self.fault:
            return b""
        return self._passed(datas, b"".join(b"%s\n" % line for line in others if _is_field(line)))

    def _odd(self, event: bytes) -> bytes:
        """A mark before the first event says nothing, and an error ends the answer; one that the library knows, as it
        has an `error` inside, is passed on to it."""
        if _MARK in event:
            return self._judged(event.replace(_MARK, b""))
        lines = event.split(b"\n")
        data = b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))
        said = next((line[len(_ERROR) :].strip() for line in lines if line.startswith(_ERROR)), data)
        told = _parsed(said)
        if said is data and _is_known_error(told):
            return b"" if self.fault else self._passed([data], b"event: error\n")
        self._fail(told if told is not None else said.decode("utf-8", "replace"))
        return b""

    def _passed(self, datas: list[bytes], head: bytes) -> bytes:
        taken = self._taken(datas[0] if len(datas) == 1 else b"\n".join(datas))
        if taken is not None:
            return _joined(taken, head)
        # Servers that forget the blank line between two events are more common than data of several lines.
        passed: list[bytes] = []
        for data in datas:
            taken = self._taken(data) if len(datas) > 1 else None
            if taken is None:
                self._lose("sent an event that is no JSON object")
                break
            passed.append(_joined(taken, head))
        return b"".join(passed)

    def _lose(self, how: str) -> None:
        if not self.ended:
            self.fault = how

    def _fail(self, told: object) -> None:
        """Remember what a service says of its own failure."""
        if self.ended or self.fault:
            return
        self.refused = not self.begun
        self.complaint = error_words(told) or "it gives no reason"
        self._lose("failed")

    def _is_plain(self, data: bytes) -> bool:
        """Whether this is an event, and passes as it is: nearly all do."""
        try:
            event: object = from_json(data)
        except ValueError:
            return False
        return isinstance(event, dict) and not self._mends(cast("dict[str, Any]", event), data)

    def _mends(self, event: dict[str, Any], data: bytes) -> bool:
        if "choices" not in event:
            if event.get("type") != _PIECE:
                self._look(event)
            self.begun = True
            return bool(self.complaint)
        if not self.begun:
            # OpenRouter puts an error beside a choice that says nothing.
            self.refused = bool(event.get("error"))
            self.begun = True
        self.ended = self.ended or _has(event["choices"], "finish_reason")
        return self._mender.wants(data)

    def _look(self, event: dict[str, Any]) -> None:
        """An event that is no piece of an answer may be its end, or an error."""
        self.ended = self.ended or _says_end(event)
        if event.get("error"):
            self.refused = self.refused or not self.begun
        elif event.get("object") == "error" or event.get("type") == "error":
            self._fail(event)

    def _taken(self, data: bytes) -> Sequence[bytes] | None:
        """What stands for one event's data, mostly that itself; None for what is no event."""
        if data == _DONE:
            self.ended = True
            return (*self._mender.rest(), data)
        event = _parsed(data)
        if not isinstance(event, dict):
            return None
        fields = cast("dict[str, Any]", event)
        if not self._mends(fields, data):
            return (data,)
        return () if self.complaint else self._mender.mended(fields)


def _joined(datas: Sequence[bytes], head: bytes) -> bytes:
    return b"".join(b"%sdata: %s\n\n" % (head, data.replace(b"\n", b" ")) for data in datas)


def _parsed(data: bytes) -> object:
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


def _says_end(event: dict[str, Any]) -> bool:
    """Whether this is where an answer ends, in the words of Anthropic or Google."""
    if "candidates" in event:
        return _has(event["candidates"], "finishReason")
    # Where the request itself was blocked, Google sends no candidate at all.
    return event.get("type") == "message_stop" or "promptFeedback" in event


def _has(several: object, reason: str) -> bool:
    """Whether the first of them says why it ended."""
    first: object = cast("list[object]", several)[0] if several and isinstance(several, list) else None
    return isinstance(first, dict) and bool(cast("dict[str, Any]", first).get(reason))
