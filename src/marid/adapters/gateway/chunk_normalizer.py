"""Answers in OpenAI's dialect by services that speak it a little differently, as the library expects them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
_CALLS = b'"tool_calls"'
_COMMON = ("id", "object", "created", "model")


class ChunkNormalizer:
    """Mends the events of one answer; those that need nothing are not even looked at."""

    def __init__(self) -> None:
        self._tags = ThinkTagSplitter()
        self._calls = ToolCallNumbering()
        self._common: Mapping[str, Any] = {}

    def needs_normalizing(self, data: bytes) -> bool:
        """Whether an event must be looked at."""
        return self._tags.is_active or _CALLS in data

    def normalize(self, event: dict[str, Any]) -> tuple[bytes, ...]:
        """The data of the events that stand for this one."""
        choice = _first(event["choices"])
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return (_to_json(event),)
        fields = cast("dict[str, Any]", delta)
        self._common = {name: event[name] for name in _COMMON if name in event}
        before = self._split(choice, fields)
        fragments = fields.get("tool_calls")
        for fragment in cast("list[object]", fragments) if isinstance(fragments, list) else []:
            if isinstance(fragment, dict):
                self._calls.normalize(cast("dict[str, Any]", fragment))
        return (*(self._text_chunk(piece) for piece in before), _to_json(event))

    def flush(self) -> Iterator[bytes]:
        """What was held back and is due now, as nothing more comes."""
        return map(self._text_chunk, self._tags.flush())

    def _split(self, choice: Mapping[str, Any], delta: dict[str, Any]) -> list[str]:
        """The pieces of text that come before the one that `delta` keeps."""
        content = delta.get("content")
        if content and not isinstance(content, str):
            self._tags.is_active = False  # its parts are kept apart already
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
    """Thoughts that a model writes between tags at the beginning of its answer, cut so that each tag stands alone.

    The library knows a tag only as a piece of its own; services send their text in pieces of any kind.
    """

    def __init__(self) -> None:
        self._inside: bool = False
        self._closed: bool = False
        self._buffered: str = ""
        self.is_active: bool = True
        """Whether the thoughts may still come, or have not ended."""

    def split(self, text: str) -> list[str]:
        """The pieces that are due; what may become a tag is held back."""
        text, self._buffered = self._buffered + text, ""
        pieces: list[str] = []
        if self._closed:
            return self._after_thoughts(text)
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
            pieces += self._split_thought(text)
        else:
            pieces.append(text)
        return [piece for piece in pieces if piece]

    def flush(self) -> list[str]:
        """What was held back."""
        held, self._buffered = self._buffered, ""
        return [held] if held else []

    def _after_thoughts(self, text: str) -> list[str]:
        """What follows the thoughts, without the blank lines between."""
        text = text.lstrip() if self.is_active else text
        self.is_active = self.is_active and not text
        return [text] if text else []

    def _split_thought(self, text: str) -> list[str]:
        thought, close, after = text.partition(THINK_CLOSE)
        if close:
            self._inside, self._closed = False, True
            return [thought, close, *self._after_thoughts(after)]
        kept = next(size for size in range(len(THINK_CLOSE) - 1, -1, -1) if text.endswith(THINK_CLOSE[:size]))
        self._buffered = text[len(text) - kept :]
        return [text[: len(text) - kept]]


@dataclass
class _Call:
    number: int
    id: str
    name: str = ""


class ToolCallNumbering:
    """Which call each fragment belongs to, by a number that no other call of the answer has."""

    def __init__(self) -> None:
        self._count = 0
        # By the index that the service gave, which some use for every call: the latest call counts.
        self._latest: dict[object, _Call] = {}

    def normalize(self, fragment: dict[str, Any]) -> None:
        """Give it its number, and the call its name and id once."""
        given = fragment.get("id")
        id = "" if given is None else str(given)
        named = fragment.get("function")
        function = cast("dict[str, Any]", named) if isinstance(named, dict) else {}
        name = function.get("name") or ""
        call = self._find_call(fragment.get("index"), id, name)
        fragment["index"] = call.number
        fragment["id"] = call.id or None
        if not isinstance(name, str) or not name:
            return
        if name == call.name:
            function["name"] = None  # the library would put one name behind the other
        else:
            call.name += name

    def _find_call(self, index: object, id: str, name: object) -> _Call:
        place = index if isinstance(index, int | str) else None
        known = self._latest.get(place)
        if known is None or (name and _is_new_call(known, place, id)):
            known = self._latest[place] = _Call(self._count, id)
            self._count += 1
        known.id = known.id or id
        return known


def _is_new_call(known: _Call, place: object, id: str) -> bool:
    """Whether a fragment with a name begins another call than the latest one of its index."""
    if place is None:
        return not id or id != known.id
    return bool(id and known.id) and id != known.id


def error_message(body: object) -> str:
    """The message inside of an error, at whatever depth the dialect puts it."""
    while isinstance(body, list | dict):
        if isinstance(body, list):
            several = cast("list[object]", body)
            body = several[0] if several else ""
            continue
        fields = cast("dict[str, Any]", body)
        body = fields.get("message") or fields.get("error") or fields.get("detail")
    return body if isinstance(body, str) else ""


def _first(choices: object) -> dict[str, Any]:
    several = cast("list[object]", choices) if isinstance(choices, list) else []
    first = several[0] if several else None
    return cast("dict[str, Any]", first) if isinstance(first, dict) else {}


def _to_json(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event).encode()
