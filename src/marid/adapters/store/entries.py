"""Entries as lines: one compact JSON object each, ASCII only, and what we do not know survives."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, cast

from marid.core.entry import OK, Entry
from marid.core.errors import BadInput

# A line of ours says how many lines of the same append follow it: a group that was cut is taken back as a whole.
MORE = "more"

_TEXTS = {
    "from": "sender",
    "to": "to",
    "content": "content",
    "entry_type": "entry_type",
    "role": "role",
    "tool_call_id": "tool_call_id",
    "id": "id",
    "status": "status",
    "round": "round",
}
_BOM = b"\xef\xbb\xbf"
_MOST_MS = 10**15


class Line(NamedTuple):
    """A line that could be read, where it begins, and how many lines of its append follow."""

    entry: Entry
    start: int
    more: int


def encode(entry: Entry, more: int = 0) -> bytes:
    """The line, with its end. Raises: BadInput when something in it is no JSON.

    Every append waits for this, so what every line has is put together by hand.
    """
    try:
        parts = [
            f'{{"id":{_quoted(entry.id)},"timestamp":{entry.time_ms // 1000},"from":{_quoted(entry.sender)}'
            f',"to":{_quoted(entry.to)},"content":{_quoted(entry.content)},"entry_type":{_quoted(entry.entry_type)}'
        ]
        if entry.role:
            parts.append(f',"role":{_quoted(entry.role)}')
        if entry.round:
            parts.append(f',"round":{_quoted(entry.round)}')
        if entry.tool_call_id:
            parts.append(f',"tool_call_id":{_quoted(entry.tool_call_id)}')
        if entry.metadata:
            parts.append(f',"metadata":{_ENCODER.encode(dict(entry.metadata))}')
        parts.append(f',"sequence":{entry.sequence:d},"time_ms":{entry.time_ms:d},"status":{_quoted(entry.status)}')
        if entry.extra:
            parts.append(_besides(entry.extra))
        parts.append(f',"{MORE}":{more}}}\n' if more else "}\n")
        return "".join(parts).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"an entry cannot be stored: {error}") from error


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_quoted = json.encoder.encode_basestring_ascii


def _besides(extra: Mapping[str, object]) -> str:
    """The fields of others; where one of ours stands before it, the later counts, except for the number."""
    fields = {name: value for name, value in extra.items() if name not in ("sequence", MORE)}
    return "," + _ENCODER.encode(fields)[1:-1] if fields else ""


def decode(line: bytes, before: int = 0) -> tuple[Entry, int] | None:
    """The entry, and how many lines of its append follow; None when the line is no JSON object.

    `before` is the number of the entry before it: one that has none, or none that grows, gets the next.
    """
    try:
        fields = _DECODER.decode(line.removeprefix(_BOM).decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    return _entry(cast("dict[str, object]", fields), before)


_DECODER = json.JSONDecoder(parse_constant=lambda _name: None)


def _entry(fields: dict[str, object], before: int) -> tuple[Entry, int]:
    texts = {"entry_type": "", "status": OK}
    for name, attribute in _TEXTS.items():
        if isinstance(value := fields.get(name), str):
            texts[attribute] = value
            del fields[name]
    sequence = _whole(fields.pop("sequence", None))
    more = _whole(fields.pop(MORE, None))
    seconds, precise = fields.get("timestamp"), fields.get("time_ms")
    time_ms = _whole(precise) or _whole(seconds) * 1000
    if time_ms:
        fields.pop("time_ms", None)
        fields.pop("timestamp", None)
    elif seconds == 0:
        del fields["timestamp"]
        fields.pop("time_ms", None)
    metadata = fields.get("metadata")
    if isinstance(metadata, dict):
        del fields["metadata"]
    else:
        metadata = {}
    entry = Entry(
        **texts,
        sequence=max(sequence, before + 1),
        time_ms=time_ms,
        metadata=cast("dict[str, object]", metadata),
        extra=fields,
    )
    return entry, more


def _whole(value: object) -> int:
    """A number that may be a time or a count, else 0."""
    return value if type(value) is int and 0 < value < _MOST_MS else 0


def lines(
    data: bytes, *, start: int = 0, before: int = 0, on_bad: Callable[[int], None] | None = None
) -> Iterator[Line]:
    """The lines from `start` on that can be read, with growing numbers; `on_bad` is told where others begin."""
    at, end = start, len(data)
    while at < end:
        stop = data.find(b"\n", at)
        stop = end if stop < 0 else stop
        line = data[at:stop]
        found = decode(line, before)
        if found is not None:
            before = found[0].sequence
            yield Line(found[0], at, found[1])
        elif on_bad is not None and line.strip():
            on_bad(at)
        at = stop + 1


def tokens(entry: Entry, bytes_per_token: int) -> int:
    """An estimate, from the length of the content."""
    return -(-len(entry.content.encode("utf-8", "surrogatepass")) // bytes_per_token)
