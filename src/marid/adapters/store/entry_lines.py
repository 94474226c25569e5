"""Entries as lines: one compact JSON object each, ASCII only; unknown fields are preserved."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from math import isfinite
from typing import NamedTuple, cast

from marid.adapters.store.files import check_depth, parse_object
from marid.core.conversation.entry import OK, Entry
from marid.core.conversation.entry_json import MORE_LINES
from marid.core.errors import BadInput

_SAME_NAMES = ("to", "content", "entry_type", "role", "tool_call_id", "id", "status", "round")
_TEXT_FIELDS = {"from": "sender", **{name: name for name in _SAME_NAMES}}
_KNOWN_FIELDS = frozenset({*_TEXT_FIELDS, "timestamp", "time_ms", "metadata"})
# Keys in the metadata of an anchor: the ids of the entries that it kept, and the number of the first of them.
KEPT_IDS_KEY, KEPT_SINCE_KEY = "kept", "kept_since"
_BOM = b"\xef\xbb\xbf"
_MAX_MS = 10**15
_MAX_REPORTED = 100
# A log is padded with tabs, which our lines never contain.
PADDING = b"\t"
_PADDING_RUN = re.compile(PADDING + b"+")
# A disk writes sectors, or parts of them, as a whole.
_SECTOR = 512


class EntryLine(NamedTuple):
    """A parsed line, its offset, and how many lines of the same append follow."""

    entry: Entry
    start: int
    lines_to_follow: int


def encode_line(entry: Entry, more: int = 0) -> bytes:
    """The line with its newline. Raises: BadInput if a value is not JSON."""
    return finish_line(begin_line(entry), entry.sequence, more)


def finish_line(line: bytes, sequence: int, more: int = 0) -> bytes:
    """Complete a line of `begin_line` with what is known only when it is written."""
    if more:
        return b'%b,"sequence":%d,"%b":%d}\n' % (line, sequence, MORE_LINES.encode(), more)
    return b'%b,"sequence":%d}\n' % (line, sequence)


def begin_line(entry: Entry) -> bytes:
    """The part of a line that does not depend on other entries. Raises: BadInput if a value is not JSON."""
    # Every append waits for this, so the fields that each line has are formatted by hand.
    kind, content, sender, to, role, key, _, time_ms, status, of_round, call, metadata, extra = entry
    try:
        line = (
            f'{{"id":{_quote(key)},"timestamp":{time_ms // 1000}{_common_fields(sender, to, kind, status, role)}'
            f',"content":{_quote(content)},"time_ms":{time_ms:d}'
        )
        if of_round:
            line += f',"round":{_quote(of_round)}'
        if call:
            line += f',"tool_call_id":{_quote(call)}'
        if metadata:
            line += f',"metadata":{_ENCODER.encode(dict(metadata))}'
        if extra:
            line += _extra_fields(extra)
            line = line if _KNOWN_FIELDS.isdisjoint(extra) else _ENCODER.encode(_DECODER.decode(line + "}"))[:-1]
        if metadata or extra:
            check_depth(line, [metadata], extra)
        return line.encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"an entry cannot be stored: {error}") from error


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_quote = json.encoder.encode_basestring_ascii


@lru_cache(256)
def _common_fields(sender: str, to: str, kind: str, status: str, role: str) -> str:
    """Fields that rarely change from line to line."""
    fields = f',"from":{_quote(sender)},"to":{_quote(to)},"entry_type":{_quote(kind)},"status":{_quote(status)}'
    return f'{fields},"role":{_quote(role)}' if role else fields


def _extra_fields(extra: Mapping[str, object]) -> str:
    """The fields of other programs. Of two fields with one name JSON readers use the last, so ours come later."""
    fields = {name: value for name, value in extra.items() if name not in ("sequence", MORE_LINES)}
    return "," + _ENCODER.encode(fields)[1:-1] if fields else ""


def decode_line(line: bytes, before: int = 0) -> tuple[Entry, int] | None:
    """The entry, and how many lines of its append follow; None if the line is not a JSON object that could be written
    again. `before` is the number of the previous entry: a number that is missing or too small becomes the next one.
    """
    try:
        fields = _DECODER.decode(line.removeprefix(_BOM).decode("utf-8"))
        check_depth(line, fields)
    except (ValueError, RecursionError):
        return None
    return _entry_from(cast("dict[str, object]", fields), before) if isinstance(fields, dict) else None


def _finite_or_none(text: str) -> float | None:
    """JSON has no infinity: a number that is parsed as one could not be written again."""
    value = float(text)
    return value if isfinite(value) else None


_DECODER = json.JSONDecoder(parse_constant=lambda _name: None, parse_float=_finite_or_none)


def _entry_from(fields: dict[str, object], before: int) -> tuple[Entry, int]:
    texts = {"entry_type": "", "status": OK}
    for name, attribute in _TEXT_FIELDS.items():
        if isinstance(value := fields.get(name), str):
            texts[attribute] = value
            del fields[name]
    sequence, more = _pop_number(fields, "sequence"), _pop_number(fields, MORE_LINES)
    seconds, precise = fields.get("timestamp"), fields.get("time_ms")
    time_ms = _to_milliseconds(precise, 1) or _to_milliseconds(seconds, 1000)
    if time_ms or seconds == 0:
        fields.pop("time_ms", None)
        fields.pop("timestamp", None)
    metadata = cast("dict[str, object]", fields.pop("metadata")) if isinstance(fields.get("metadata"), dict) else {}
    return Entry(**texts, sequence=max(sequence, before + 1), time_ms=time_ms, metadata=metadata, extra=fields), more


def _pop_number(fields: dict[str, object], name: str) -> int:
    """Take a number of ours out of the fields; another value belongs to another program and stays."""
    value = _count_or_zero(fields.get(name))
    if value:
        del fields[name]
    return value


def _to_milliseconds(value: object, unit: int) -> int:
    """A time in milliseconds, also from the fractions that other programs write; 0 if it is not a time."""
    return int(value * unit) if type(value) is float and 0 < value < _MAX_MS else _count_or_zero(value) * unit


def _count_or_zero(value: object) -> int:
    """A plausible time or count, else 0."""
    return value if type(value) is int and 0 < value < _MAX_MS else 0


def parse_lines(
    data: bytes, *, start: int = 0, before: int = 0, on_bad: Callable[[int], None] | None = None
) -> Iterator[EntryLine]:
    """The readable lines from offset `start`, numbered upwards; `on_bad` gets the offsets of the others."""
    at, end = start, len(data)
    while at < end:
        stop = data.find(b"\n", at)
        stop = end if stop < 0 else stop
        line = data[at:stop]
        found = decode_line(line, before)
        if found is not None:
            before = found[0].sequence
            yield EntryLine(found[0], at, found[1])
        elif on_bad is not None and line.strip():
            on_bad(at)
        at = stop + 1


def number_bad_lines(data: bytes, note: Callable[[int], None]) -> Callable[[int], None]:
    """For `on_bad`: pass line numbers, from 1, to `note`; only the first hundred."""
    left = iter(range(_MAX_REPORTED))

    def report(at: int) -> None:
        if next(left, None) is not None:
            note(data.count(b"\n", 0, at) + 1)

    return report


def unreadable_message(path: str, number: int) -> str:
    """The note for the user about a line that cannot be read."""
    return f"line {number} of '{path}' cannot be read and is left out"


def report_bad_lines(path: str, data: bytes, on_problem: Callable[[str], None] | None) -> Callable[[int], None] | None:
    """For `on_bad`: pass a note for the user to `on_problem`."""
    return number_bad_lines(data, lambda number: on_problem(unreadable_message(path, number))) if on_problem else None


def entry_tokens(entry: Entry, bytes_per_token: int) -> int:
    """An estimate by the length of the content."""
    text = entry.content
    return -(-(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))) // bytes_per_token)


def complete_lines(data: bytes) -> bytes:
    """The part of a file, which may be written at this moment, that is whole lines and whole groups."""
    data = before_first_hole(data.rstrip(PADDING))
    end = data.rfind(b"\n") + 1
    # The last line may lack its newline: no part of a JSON object is an object.
    if end < len(data) and parse_object(data[end:]) is not None:
        data += b"\n"
        end = len(data)
    line = data.rfind(b"\n", 0, max(0, end - 1)) + 1
    more = _lines_to_follow(data[line:end])
    while more:
        end = line
        line = data.rfind(b"\n", 0, max(0, end - 1)) + 1
        more = more + 1 if end and _lines_to_follow(data[line:end]) == more + 1 else 0
    return data[:end]


def before_first_hole(data: bytes) -> bytes:
    """The data before the first hole: padding where a power cut has lost a part of an append, but not what follows.

    Tabs alone are no proof, since other programs may write them. A disk writes sectors: a hole ends at the end of one,
    and starts with one or where the append started. And something is missing: the hole is inside a line of ours, which
    never contains a tab, or its line is unreadable or skips numbers, and so does our next line, if there is one.
    """
    if PADDING not in data:
        return data
    holes = [run.start() for run in _PADDING_RUN.finditer(data) if _is_hole(data, run)]
    if not holes:
        return data
    broken = {data.rfind(b"\n", 0, hole) + 1: hole for hole in reversed(holes)}
    at = min(broken)
    number = max((line.entry.sequence for line in parse_lines(data[:at])), default=0)
    doubt = -1
    while at < len(data):
        stop = data.find(b"\n", at) + 1 or len(data)
        doubt = at if doubt < 0 and at in broken else doubt
        entry = decode_line(data[at:stop], -1)
        if entry is not None:
            own = entry[0].sequence
            if own and broken.get(at, at) > at:
                return data[:at]
            if doubt >= 0 and number and own > number + 1:
                return data[:doubt]
            number, doubt = max(own, number + 1), -1
        at = stop
    return data[:doubt] if doubt >= 0 else data


def _is_hole(data: bytes, run: re.Match[bytes]) -> bool:
    """Whether this run of tabs can be sectors that were not written."""
    begins = run.start() % _SECTOR == 0 or data.endswith(b"\n", 0, run.start())
    return begins and run.end() % _SECTOR == 0


def _lines_to_follow(line: bytes) -> int:
    """How many lines of the same append follow this one."""
    if b'"%s"' % MORE_LINES.encode() not in line:
        return 0
    found = decode_line(line)
    return found[1] if found else 0
