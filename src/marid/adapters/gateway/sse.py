"""A stream of server-sent events, made whole: what no provider's own client would survive is left out."""

import json
from typing import Any, cast

from pydantic_core import from_json

_DONE = b"[DONE]"


class Sieve:
    """Passes on the events of one answer, as bytes, and drops those whose data is no JSON object.

    It also remembers what tells a whole answer from one that was cut where nobody can see it: `ended` is true once an
    event said that the answer is complete.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._seen = 0
        self.events = 0
        self.dropped = 0
        self.ended = False

    def feed(self, data: bytes) -> bytes:
        """The whole events that are there now."""
        if not self._buffer and data.endswith(b"\n\n") and b"\r" not in data:
            return b"".join([self._judged(event) for event in data[:-2].split(b"\n\n")])
        self._buffer += data
        self._unify_line_ends()
        passed: list[bytes] = []
        start = 0
        while (end := self._buffer.find(b"\n\n", max(start, self._seen - 1))) >= 0:
            passed.append(self._judged(bytes(self._buffer[start:end])))
            start = end + 2
        del self._buffer[:start]
        self._seen = len(self._buffer)
        return b"".join(passed)

    def finish(self) -> bytes:
        """What is left at the end, if it is an event although no blank line follows it."""
        rest = bytes(self._buffer).replace(b"\r", b"\n")
        self._buffer.clear()
        self._seen = 0
        return self._judged(rest.strip(b"\n"))

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
        head, _, data = event.partition(b"data: ")
        if b"\n" not in data and (not head or _is_one_field(head)) and self._admits(data):
            return event + b"\n\n"
        datas: list[bytes] = []
        others: list[bytes] = []
        for line in event.split(b"\n"):
            if line.startswith(b"data:"):
                datas.append(line[5:].strip())
            elif line and not line.startswith(b":"):
                others.append(line)
        if not datas:
            return b""
        return self._passed(datas, b"".join(b"%s\n" % line for line in others if _is_field(line)))

    def _passed(self, datas: list[bytes], head: bytes) -> bytes:
        whole = datas[0] if len(datas) == 1 else b"\n".join(datas)
        if self._admits(whole):
            return b"%sdata: %s\n\n" % (head, whole.replace(b"\n", b" "))
        # Servers that forget the blank line between two events are more common than data of several lines.
        singles = [data for data in datas if len(datas) > 1 and self._admits(data)]
        if not singles:
            self.dropped += 1
        return b"".join(b"%sdata: %s\n\n" % (head, data) for data in singles)

    def _admits(self, data: bytes) -> bool:
        if data == _DONE:
            self.ended = True
            return True
        event = _object(data)
        if event is None:
            return False
        self.events += 1
        self.ended = self.ended or _says_end(event)
        return True


def _object(data: bytes) -> dict[str, Any] | None:
    """The JSON object that `data` is, read by the faster of two readers and by the more lenient where that fails."""
    try:
        event: object = from_json(data)
    except ValueError:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            return None
    return cast("dict[str, Any]", event) if isinstance(event, dict) else None


def _is_one_field(head: bytes) -> bool:
    return head.startswith(b"event: ") and head.find(b"\n") == len(head) - 1


def _is_field(line: bytes) -> bool:
    return line.startswith((b"event:", b"id:", b"retry:"))


def _says_end(event: dict[str, Any]) -> bool:
    """Whether this is where an answer ends, in the words of any of the dialects."""
    if event.get("type") == "message_stop":
        return True
    for name, reason in (("choices", "finish_reason"), ("candidates", "finishReason")):
        if name in event:
            first = next(iter(_listed(event[name])), None)
            return isinstance(first, dict) and bool(cast("dict[str, Any]", first).get(reason))
    # Where the request itself was blocked, Google sends no candidate at all.
    return "promptFeedback" in event


def _listed(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
