"""Normalize the events of services whose OpenAI dialect differs from what the library expects."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from marid.text.json_values import as_list, as_object, as_objects, is_list, is_object

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
_CALLS = b'"tool_calls"'
_COMMON = ("id", "object", "created", "model")


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
        self.is_active: bool = True
        """Whether reasoning may still begin, or has not ended."""

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
        if self._inside:
            pieces += self._split_reasoning(text)
        else:
            pieces.append(text)
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
        id = "" if given is None else str(given)
        function = as_object(fragment.get("function"))
        name = function.get("name") or ""
        call = self._find_call(fragment.get("index"), id, name)
        fragment["index"] = call.number
        fragment["id"] = call.id or None
        if not isinstance(name, str) or not name:
            return
        if name == call.name:
            function["name"] = None  # the library would append the name to itself
        else:
            call.name += name

    def _find_call(self, index: object, id: str, name: object) -> _Call:
        key = index if isinstance(index, int | str) else None
        known = self._latest.get(key)
        if known is None or (name and _is_new_call(known, key, id)):
            known = self._latest[key] = _Call(self._count, id)
            self._count += 1
        known.id = known.id or id
        return known


def _is_new_call(known: _Call, key: object, id: str) -> bool:
    """Whether a fragment with a name begins another call than the latest one of its index."""
    if key is None:
        return not id or id != known.id
    return bool(id and known.id) and id != known.id


def error_message(body: object) -> str:
    """The message of an error, which each dialect nests at another depth."""
    while True:
        if is_list(body):
            body = body[0] if body else ""
        elif is_object(body):
            body = body.get("message") or body.get("error") or body.get("detail")
        else:
            return body if isinstance(body, str) else ""


def _to_json(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event).encode()
