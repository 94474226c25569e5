"""The size of results: what is too long is cut, with a note."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from marid.toolkit.outcome import ToolOutput

MAX_OUTPUT_BYTES = 4_000_000
# For what a wire puts around a result.
_MARGIN = 2_000


class ResultLimit(Protocol):
    """The most bytes that the caller takes. A tool with a parameter of this type keeps to it and is not clipped."""

    @property
    def max_bytes(self) -> int:
        """The limit of one result."""
        ...


class FixedResultLimit(NamedTuple):
    """The port ResultLimit of a caller whose limit is always the same."""

    max_bytes: int


def clip_output(done: ToolOutput, max_bytes: int = MAX_OUTPUT_BYTES) -> ToolOutput:
    """The result, whose text and values fit together in `max_bytes` of JSON."""
    if len(done.text) * 6 + _size_bound(done.values) <= max_bytes - _MARGIN:
        return done
    import json

    room = max(max_bytes - _MARGIN, 0)
    size = len(json.dumps(done.values, default=str))
    fits = size <= room // 2
    values = done.values if fits else {"values_left_out": True}
    room -= size if fits else 0
    if _json_size(done.text) <= room:
        return done if fits else ToolOutput(text=done.text, values=values)
    text = _fitting_prefix(done.text, room)
    note = f"\n[cut: {len(done.text) - len(text):,} of {len(done.text):,} characters are left out; ask for less]"
    return ToolOutput(text=text + note, values={**values, "truncated": True})


def _size_bound(values: Mapping[str, object]) -> int:
    """No less than what they take in JSON, without making it; more than there can be for what is not plain."""
    size = 0
    for name, value in values.items():
        if not isinstance(value, str | int | float | None):
            return MAX_OUTPUT_BYTES
        size += 6 * (len(name) + len(value)) if isinstance(value, str) else 6 * len(name) + 40
    return size


def _json_size(text: str) -> int:
    """In bytes, as JSON writes it without escaping what is not ASCII."""
    import json

    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _fitting_prefix(text: str, room: int) -> str:
    """Nearly as much of the beginning as fits: each guess from how much the last one was too long."""
    head = text[:room]
    while head and (size := _json_size(head)) > room:
        head = head[: min(len(head) - 1, len(head) * room // size)]
    return head
