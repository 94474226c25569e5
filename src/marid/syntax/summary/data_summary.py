"""Summarize data files: the keys of TOML, JSON and YAML, and the headings of Markdown."""

import json
import re
from collections.abc import Iterator
from typing import cast

from marid.text.display import clip, join_limited

_MAX_NAMES = 200
_MAX_LENGTH = 80
# Per line: on a line without a match, the patterns below take time quadratic in its length.
_MAX_MATCHED_LENGTH = 500
_TABLE_DEPTH = 6
_YAML_KEY = re.compile(
    r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#\-?&*!|>'"%@`\[\]{},][^#]*?|-[^\s#][^#]*?))\s*:(?=\s|$)"""
)
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_PARAGRAPH = re.compile(r" {0,3}(?![#>\-*+\s`~|]|\d+[.)]\s)\S")


def toml_lines(text: str) -> Iterator[str]:
    """One line per table: its name and its keys. Raises: ValueError."""
    import tomllib  # imported on use: few summaries need it

    waiting: list[tuple[str, object]] = [("", tomllib.loads(text))]
    while waiting:
        name, value = waiting.pop()
        table = _tables(value)[0]
        keys = [key for key, inside in table.items() if not _tables(inside)]
        inner = [(f"{name}.{key}".lstrip("."), inside) for key, inside in table.items() if _tables(inside)]
        if name and (keys or not inner):
            title = f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
            yield f"{title} {_join_names(keys)}".rstrip()
        elif keys:
            yield f"keys: {_join_names(keys)}"
        if name.count(".") < _TABLE_DEPTH:
            waiting.extend(reversed(inner))


def _tables(value: object) -> list[dict[str, object]]:
    """The tables in a value: itself, or those of an array."""
    if isinstance(value, dict):
        return [cast("dict[str, object]", value)]
    if isinstance(value, list):
        inside = cast("list[object]", value)
        return [cast("dict[str, object]", each) for each in inside if isinstance(each, dict)]
    return []


def json_lines(text: str) -> Iterator[str]:
    """The keys of an object with the type of each value, or the contents of an array. Raises: ValueError."""
    found: object = json.loads(text)
    yield from _value_lines(found)


def record_lines(text: str) -> Iterator[str]:
    """The number of records in a file of one JSON value per line, and the first one. Raises: ValueError."""
    lines = [line for line in text.split("\n") if line.strip()]
    yield f"{len(lines):,} records, one a line"
    if lines:
        yield "the first:"
        yield from _value_lines(json.loads(lines[0]))


def _value_lines(found: object) -> Iterator[str]:
    if isinstance(found, dict):
        items = list(cast("dict[str, object]", found).items())
        yield f"object with {len(items):,} keys"
        yield from (f"  {_shorten(key)}: {_value_kind(value)}" for key, value in items[:_MAX_NAMES])
        if len(items) > _MAX_NAMES:
            yield f"  and {len(items) - _MAX_NAMES:,} more"
    elif isinstance(found, list) and (inside := cast("list[object]", found)):
        yield f"array of {len(inside):,}, the first: {_value_kind(inside[0])}"
        if isinstance(inside[0], dict):
            yield f"  its keys: {_join_names([*cast('dict[str, object]', inside[0])])}"
    else:
        yield _value_kind(cast("object", found))


def _value_kind(value: object) -> str:
    if isinstance(value, dict):
        inside = cast("dict[str, object]", value)
        return f"object ({_join_names([*inside], 8)})" if inside else "empty object"
    if isinstance(value, list):
        return f"array of {len(cast('list[object]', value)):,}"
    names: dict[type, str] = {str: "string", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), "null")


def yaml_lines(text: str) -> Iterator[str]:
    """The top-level keys of each document."""
    items = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("---") and line[3:4] in ("", " ", "\t", "\r"):
            yield f"--- (line {number})"
        elif line.startswith("- ") or line.rstrip() == "-":
            items += 1
        elif found := _YAML_KEY.match(line, 0, _MAX_MATCHED_LENGTH):
            key = next(group for group in found.groups() if group is not None)
            yield f"{_shorten(key)} (line {number})"
    if items:
        yield f"{items:,} items in a top-level list"


def markdown_lines(text: str) -> Iterator[str]:
    """The headings outside fences, indented by level, with their lines."""
    fence, above = "", ""
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip("\r")
        mark = _FENCE.match(line)
        if fence or mark:
            fence = _next_fence(fence, line, mark.group(1) if mark else "")
            above = ""
            continue
        if found := _ATX.match(line[:_MAX_MATCHED_LENGTH]):
            yield _heading_line(len(found.group(1)), found.group(2) or "", number)
        elif above and (found := _UNDERLINE.match(line)):
            yield _heading_line(1 if found.group(1).startswith("=") else 2, above, number - 1)
        above = line.strip() if _PARAGRAPH.match(line) and not found else ""


def _next_fence(open_mark: str, line: str, mark: str) -> str:
    """The mark of the fence that is open after this line, or empty."""
    if not open_mark:
        return mark
    closes = mark.startswith(open_mark[0]) and len(mark) >= len(open_mark) and not line.strip().strip(open_mark[0])
    return "" if mark and closes else open_mark


def _heading_line(level: int, words: str, line: int) -> str:
    return f"{'  ' * (level - 1)}{'#' * level} {_shorten(words)} (line {line})"


def _join_names(names: list[str], limit: int = _MAX_NAMES) -> str:
    return join_limited([_shorten(name) for name in names], limit)


def _shorten(text: str) -> str:
    return clip(" ".join(text.split()), _MAX_LENGTH)
