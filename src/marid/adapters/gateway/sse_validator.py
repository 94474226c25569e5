"""Validate server-sent events: damage ends a stream, and what the library does not expect is dropped or normalized."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from marid.adapters.gateway.providers import error_message
from marid.text.json_values import as_list, as_object, as_objects, is_object

# Bytes of one event: no model sends that much at once, and an endless line would use up the memory.
MAX_EVENT = 32 << 20
_DONE = b"[DONE]"
_BOM = b"\xef\xbb\xbf"
_ERROR = b"error:"
_SPECIAL_PREFIXES = (_BOM, _ERROR, b"event: error", b"event:error")
_KNOWN_FIELDS = (b"event:", b"id:", b"retry:")
_EVENT, _DATA = b"event: ", b"data: "
# Nearly all of Anthropic's events: a piece of the answer, so neither its end nor an error.
_PIECE = "content_block_delta"
THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
_CALLS = b'"tool_calls"'
_COMMON = ("id", "object", "created", "model")


class SseValidator:
    """Passes on the events of one answer, as bytes, up to the first whose data is not a JSON object.

    It also notices whether an answer is complete, cut or damaged. Once an event said that the answer `is_complete`,
    nothing that follows matters. `fault` says how part of the answer was lost before that. `error_text` is the
    service's message of a failure that the library would not notice.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._ended_with_cr = False
        self._normalizer = ChunkNormalizer()
        self.has_events = False
        self.is_complete = False
        self.fault = ""
        self.error_text = ""
        self.began_with_error = False

    def feed(self, data: bytes) -> bytes:
        """The events that are complete now."""
        if not self._buffer:
            start = _plain_data_start(data)
            if start and not self.fault:
                body = data[start:-2]
                taken = self._take_data(body)
                if taken is not None:
                    return data if taken and taken[0] is body else _format_events(taken, data[: start - len(_DATA)])
            if data.endswith(b"\n\n") and b"\r" not in data:
                return b"".join(map(self._validate_event, data[:-2].split(b"\n\n")))
        searched = max(0, len(self._buffer) - 1)
        self._buffer += self._unify_line_ends(data)
        passed: list[bytes] = []
        start = 0
        while (end := self._buffer.find(b"\n\n", max(start, searched))) >= 0:
            passed.append(self._validate_event(bytes(self._buffer[start:end])))
            start = end + 2
        del self._buffer[:start]
        if len(self._buffer) > MAX_EVENT:
            self._buffer.clear()
            self._set_fault(f"sent an event of more than {MAX_EVENT >> 20} MB")
        return b"".join(passed)

    def finish(self) -> bytes:
        """The last event, if only its blank line is missing; half an event is not a fault but a cut."""
        rest, fault = bytes(self._buffer), self.fault
        self._buffer.clear()
        passed = self._validate_event(rest.strip(b"\n"))
        self.fault = fault
        return passed + _format_events(tuple(self._normalizer.flush()))

    def _unify_line_ends(self, data: bytes) -> bytes:
        """CR LF and CR become LF, also where the data is cut between the two."""
        if not data:
            return data
        after_cr, self._ended_with_cr = self._ended_with_cr, data.endswith(b"\r")
        data = data.removeprefix(b"\n") if after_cr else data
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _validate_event(self, event: bytes) -> bytes:
        datas, head = list[bytes](), b""
        for line in event.split(b"\n"):
            if line.startswith(b"data:"):
                datas.append(line[5:].strip())
            elif line.startswith(_SPECIAL_PREFIXES):
                return self._validate_special(event)
            elif line.startswith(_KNOWN_FIELDS):
                head += line + b"\n"
        datas = [data for data in datas if data]
        return b"" if not datas or self.fault else self._pass_on(datas, head)

    def _validate_special(self, event: bytes) -> bytes:
        """A byte order mark is dropped. An error ends the answer, unless the library understands it."""
        if _BOM in event:
            return self._validate_event(event.replace(_BOM, b""))
        lines = event.split(b"\n")
        data = b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))
        text = next((line[len(_ERROR) :].strip() for line in lines if line.startswith(_ERROR)), data)
        error = _parse_json(text)
        if text is data and as_object(error).get("error"):
            return b"" if self.fault else self._pass_on([data], b"event: error\n")
        self._set_error(error if error is not None else text.decode("utf-8", "replace"))
        return b""

    def _pass_on(self, datas: list[bytes], head: bytes) -> bytes:
        taken = self._take_data(b"\n".join(datas))
        if taken is not None:
            return _format_events(taken, head)
        # Servers that forget the blank line between two events are more common than data of several lines.
        passed: list[bytes] = []
        for data in datas:
            if len(datas) == 1 or (taken := self._take_data(data)) is None:
                self._set_fault("sent an event that is not a JSON object")
                break
            passed.append(_format_events(taken, head))
        return b"".join(passed)

    def _take_data(self, data: bytes) -> Sequence[bytes] | None:
        """The data to pass on for the data of one event, mostly `data` itself; None if that is not an event."""
        if data == _DONE:
            self.is_complete = True
            return (*self._normalizer.flush(), data)
        try:
            fields: object = from_json(data, cache_strings="none")  # each text comes once
        except ValueError:
            fields = _parse_json(data)
        if not is_object(fields):
            return None
        if "choices" not in fields:
            if fields.get("type") != _PIECE:
                self._inspect_other(fields)
            self.has_events = True
            return () if self.error_text else (data,)
        if not self.has_events:
            # OpenRouter puts an error beside an empty choice.
            self.began_with_error = bool(fields.get("error"))
            self.has_events = True
        self.is_complete = self.is_complete or _has_reason(fields["choices"], "finish_reason")
        return self._normalizer.normalize(fields) if self._normalizer.needs_normalizing(data) else (data,)

    def _inspect_other(self, event: dict[str, Any]) -> None:
        """An event that is not a piece of an answer may be its end, or an error."""
        self.is_complete = self.is_complete or _is_end(event)
        if event.get("error"):
            self.began_with_error = self.began_with_error or not self.has_events
        elif event.get("object") == "error" or event.get("type") == "error":
            self._set_error(event)

    def _set_fault(self, fault: str) -> None:
        if not self.is_complete:
            self.fault = fault

    def _set_error(self, error: object) -> None:
        if self.is_complete or self.fault:
            return
        self.began_with_error = not self.has_events
        self.error_text = error_message(error) or "no reason given"
        self.fault = "failed"


def _plain_data_start(data: bytes) -> int:
    """Where the data begins in one event with its data in one line and only its name before it; 0 for others.

    Nearly all events are like that, and most can be passed on unchanged.
    """
    line = 0
    if not data.startswith(_DATA):
        line = data.find(b"\n") + 1
        if not data.startswith(_EVENT) or data.startswith(_SPECIAL_PREFIXES) or not data.startswith(_DATA, line):
            return 0
    is_one_line = data.find(b"\n", line) == len(data) - 2 and data.endswith(b"\n") and b"\r" not in data
    return line + len(_DATA) if is_one_line else 0


def _format_events(datas: Sequence[bytes], head: bytes = b"") -> bytes:
    return b"".join(b"%sdata: %s\n\n" % (head, data.replace(b"\n", b" ")) for data in datas)


def _parse_json(data: bytes) -> object:
    """The value, or None if it is not JSON. The second parser is slower and accepts more."""
    for parse in (from_json, json.loads):
        try:
            return parse(data)
        except (ValueError, RecursionError):
            pass
    return None


def _is_end(event: dict[str, Any]) -> bool:
    """Whether an answer of Anthropic or Google ends here."""
    if "candidates" in event:
        return _has_reason(event["candidates"], "finishReason")
    # Where the request itself was blocked, Google sends no candidate at all.
    return event.get("type") == "message_stop" or "promptFeedback" in event


def _has_reason(choices: object, reason: str) -> bool:
    """Whether the first choice says why it ended."""
    return bool(as_object(next(iter(as_list(choices)), None)).get(reason))


class ChunkNormalizer:
    """Normalizes the events of one answer."""

    def __init__(self) -> None:
        self._tags = ThinkTagSplitter()
        self._calls = ToolCallNumbering()
        self._common: Mapping[str, Any] = {}

    def needs_normalizing(self, data: bytes) -> bool:
        """Whether the event with this data may differ from what the library expects; most do not."""
        return self._tags.is_active or _CALLS in data

    def normalize(self, event: dict[str, Any]) -> tuple[bytes, ...]:
        """The data of the events that replace this one."""
        choice = as_object(next(iter(as_list(event["choices"])), None))
        fields = choice.get("delta")
        if not is_object(fields):
            return (_to_json(event),)
        self._common = {name: event[name] for name in _COMMON if name in event}
        before = self._split(choice, fields)
        for fragment in as_objects(fields.get("tool_calls")):
            self._calls.normalize(fragment)
        return (*(self._text_chunk(piece) for piece in before), _to_json(event))

    def flush(self) -> Iterator[bytes]:
        """Events for the text that was held back, at the end of the answer."""
        return map(self._text_chunk, self._tags.flush())

    def _split(self, choice: Mapping[str, Any], delta: dict[str, Any]) -> list[str]:
        """The pieces of text to send before the one that stays in `delta`."""
        content = delta.get("content")
        if content and not isinstance(content, str):
            self._tags.is_active = False  # reasoning and text are separate parts already
            return self._tags.flush()
        pieces = self._tags.split(content) if isinstance(content, str) and content else []
        if choice.get("finish_reason") or delta.get("tool_calls"):
            pieces += self._tags.flush()
        if content or pieces:
            delta["content"] = pieces.pop() if pieces else ""
        return pieces

    def _text_chunk(self, text: str) -> bytes:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        return _to_json({**self._common, "choices": [choice]})


class ThinkTagSplitter:
    """Splits reasoning between tags at the start of an answer, so that each tag is a separate piece.

    The library recognizes a tag only as a whole piece, but services cut their text anywhere.
    """

    def __init__(self) -> None:
        self._inside: bool = False
        self._closed: bool = False
        self._buffered: str = ""
        self.is_active: bool = True  # reasoning may still begin, or has not ended

    def split(self, text: str) -> list[str]:
        """The pieces so far; what may become a tag is held back."""
        text, self._buffered = self._buffered + text, ""
        pieces: list[str] = []
        if self._closed:
            return self._after_reasoning(text)
        if self.is_active and not self._inside:
            begun = text.lstrip()
            if THINK_OPEN.startswith(begun) and begun != THINK_OPEN:
                self._buffered = text
                return []
            self._inside = self.is_active = begun.startswith(THINK_OPEN)
            if self._inside:
                pieces.append(THINK_OPEN)
                text = begun.removeprefix(THINK_OPEN)
        pieces += self._split_reasoning(text) if self._inside else [text]
        return [piece for piece in pieces if piece]

    def flush(self) -> list[str]:
        """The text that was held back."""
        held, self._buffered = self._buffered, ""
        return [held] if held else []

    def _after_reasoning(self, text: str) -> list[str]:
        """The text after the reasoning, without the blank lines between."""
        text = text.lstrip() if self.is_active else text
        self.is_active = self.is_active and not text
        return [text] if text else []

    def _split_reasoning(self, text: str) -> list[str]:
        reasoning, close, after = text.partition(THINK_CLOSE)
        if close:
            self._inside, self._closed = False, True
            return [reasoning, close, *self._after_reasoning(after)]
        kept = next(size for size in range(len(THINK_CLOSE) - 1, -1, -1) if text.endswith(THINK_CLOSE[:size]))
        self._buffered = text[len(text) - kept :]
        return [text[: len(text) - kept]]


@dataclass
class _Call:
    number: int
    id: str
    name: str = ""


class ToolCallNumbering:
    """Gives every call of an answer a unique index, and each fragment the index of its call."""

    def __init__(self) -> None:
        self._count = 0
        # By the index that the service gave. Some give every call the same one, so the latest call counts.
        self._latest: dict[object, _Call] = {}

    def normalize(self, fragment: dict[str, Any]) -> None:
        """Set the index of a fragment, and repeat neither the name nor the id of its call."""
        given = fragment.get("id")
        function = as_object(fragment.get("function"))
        name = function.get("name") or ""
        call = self._find_call(fragment.get("index"), "" if given is None else str(given), name)
        fragment |= {"index": call.number, "id": call.id or None}
        if name == call.name and name:
            function["name"] = None  # the library would append the name to itself
        elif isinstance(name, str):
            call.name += name

    def _find_call(self, index: object, id: str, name: object) -> _Call:
        key = index if isinstance(index, int | str) else None
        known = self._latest.get(key)
        # Without an index, a name begins a call unless the id is the latest one's; with one, only if both have ids.
        differs = known is not None and id != known.id and (key is None or bool(id and known.id))
        if known is None or (name and (differs or (key is None and not id))):
            known = self._latest[key] = _Call(self._count, id)
            self._count += 1
        known.id = known.id or id
        return known


def _to_json(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event).encode()
