"""Summarize any file in a few lines: definitions of code, keys of TOML, JSON and YAML, headings of Markdown."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from typing import cast

from marid.core.errors import BadInput, Exhausted
from marid.syntax.languages import fence_of, language_of
from marid.syntax.python.scopes import assigned_names, definitions, docstring_node, docstring_text, statements
from marid.syntax.python.source import FUNCTION_NODES, DefinitionNode, PythonSource, read_source
from marid.syntax.python.source_views import module_names
from marid.syntax.treesitter.definitions import visible_definitions
from marid.text.decode import line_count, to_utf8
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


def file_summary(name: str, data: bytes) -> str:
    """Kind, lines and bytes, then the contents. Raises: Exhausted if it is nested too deeply, Unavailable."""
    text = to_utf8(data)
    if text is None:
        return f"binary file, {len(data):,} bytes"
    first = data[:200].partition(b"\n")[0]
    kind = fence_of(name) or ("python" if first.startswith(b"#!") and b"python" in first else "")
    lines = line_count(text[0])
    head = f"{kind or 'text'}, {lines:,} {'line' if lines == 1 else 'lines'}, {len(data):,} bytes"
    return "\n".join([head, *_content_lines(kind, name, data, text[0])]) if data.strip() else f"{head}\nempty"


def _content_lines(kind: str, name: str, data: bytes, text: bytes) -> list[str]:
    try:
        if kind == "python":
            return list(_python_lines(data))
        if kind in _READERS:
            form = "records" if name.lower().endswith((".jsonl", ".ndjson")) else kind
            return list(_READERS[form](text.decode().removeprefix("\ufeff")))
    except RecursionError as error:
        raise Exhausted("nested too deeply to read") from error
    except (BadInput, ValueError) as error:
        return [f"does not parse: {error}", *_definition_lines(text, kind)]
    return list(_definition_lines(text, language_of(name) or ""))


def _definition_lines(text: bytes, language: str) -> Iterator[str]:
    for each in visible_definitions(text, language):
        yield f"{'  ' * each.depth}[{each.kind.capitalize()}] {each.signature} (Lines {each.start}-{each.end})"


def _python_lines(data: bytes) -> Iterator[str]:
    """Docstring, imports, classes with methods, functions, constants, variables. Raises as `read_source`."""
    source = read_source(data)
    top = list(statements(source.tree.body))
    if docstring_node(source.tree):
        yield f'"{docstring_text(source.tree).partition(chr(10))[0]}"'
    imported = [name for node in top if isinstance(node, ast.Import | ast.ImportFrom) for name in module_names(node)]
    yield from _name_list("imports", imported)
    for node in top:
        if isinstance(node, ast.ClassDef):
            yield _signature_line(source, node)
            yield from (f"  {_signature_line(source, each)}" for each in definitions(node.body))
    functions = [f"  {_signature_line(source, node)}" for node in top if isinstance(node, FUNCTION_NODES)]
    if functions:
        yield from ("functions:", *functions)
    assigned = [name for node in top for name in assigned_names(node)]
    yield from _name_list("constants", [name for name in assigned if name.isupper()])
    yield from _name_list("variables", [name for name in assigned if not name.isupper()])


def _signature_line(source: PythonSource, node: DefinitionNode) -> str:
    return f"{' '.join(source.signature(node).split())} {source.line_label(node)}"


def _name_list(title: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"{title}: {', '.join(dict.fromkeys(names))}"


def _toml_lines(text: str) -> Iterator[str]:
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
    inside = cast("list[object]", value) if isinstance(value, list) else [value]
    return [cast("dict[str, object]", each) for each in inside if isinstance(each, dict)]


def _record_lines(text: str) -> Iterator[str]:
    """The number of records in a file of one JSON value per line, and the first one. Raises: ValueError."""
    lines = [line for line in text.split("\n") if line.strip()]
    yield f"{len(lines):,} records, one a line"
    if lines:
        yield "the first:"
        yield from _value_lines(json.loads(lines[0]))


def _value_lines(found: object) -> Iterator[str]:
    """The keys of an object with the type of each value, or the contents of an array."""
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


def _yaml_lines(text: str) -> Iterator[str]:
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


def _markdown_lines(text: str) -> Iterator[str]:
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


_READERS: dict[str, Callable[[str], Iterator[str]]] = {
    "toml": _toml_lines,
    "json": lambda text: _value_lines(json.loads(text)),
    "records": _record_lines,
    "yaml": _yaml_lines,
    "markdown": _markdown_lines,
}
