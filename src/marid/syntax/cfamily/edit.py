"""Replace one C or C++ definition; every other byte stays."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from marid.core.errors import BadInput
from marid.syntax.cfamily.declaration_lookup import find_declaration
from marid.syntax.cfamily.declarations import CDeclaration, CSource, parse_source
from marid.syntax.treesitter.grammars import parse
from marid.syntax.treesitter.nodes import first_row, line_start

if TYPE_CHECKING:
    from tree_sitter import Node

_INDENT = re.compile(rb"[ \t]*")


@dataclass(frozen=True, kw_only=True)
class DefinitionUpdate:
    """The new bytes of the file, and the replaced lines before and after."""

    data: bytes
    before: tuple[int, int]
    after: tuple[int, int]


def update_definition(data: bytes, language: str, name: str, content: bytes, where: str) -> DefinitionUpdate:
    """Replace the definition of a name by `content`.

    The content gets the line endings of the file, the old `;` if it has none, and the old indentation if it has none.
    Raises as `find_declaration`; BadInput if the content is empty or the file would have more syntax errors.
    """
    if not content.strip():
        raise BadInput("new_content is empty: pass the whole new definition")
    source = parse_source(data, language)
    item = find_declaration(source, name, where)
    start, end, semicolon = source.span(item)
    start = line_start(data, start)
    if not _is_complete(content, item, language):
        end = semicolon
    new = content if content == data[start:end] else _fit_content(content, data, start)
    made = data[:start] + new + data[end:]
    _check_result(source, parse_source(made, language), (start, end, start + len(new)), where)
    return DefinitionUpdate(
        data=made, before=_line_range(data, start, end), after=_line_range(made, start, start + len(new))
    )


def _line_range(data: bytes, start: int, end: int) -> tuple[int, int]:
    return data.count(b"\n", 0, start) + 1, data.count(b"\n", 0, end) + 1


def _is_complete(content: bytes, item: CDeclaration, language: str) -> bool:
    """Whether it needs no `;`: it has one before any comments, or its kind takes none."""
    root = parse(content, language)
    inner = [child for child in root.children if child.type != "comment"] if root else []
    code = content[: inner[-1].end_byte if inner else len(content)].rstrip()
    if item.kind in ("Function", "Method"):
        return code.endswith((b";", b"}"))
    return code.endswith(b";") or item.kind == "Macro" or (item.kind == "Namespace" and item.body is not None)


def _fit_content(content: bytes, data: bytes, start: int) -> bytes:
    """The content with the line endings of the file, without blank lines around it, indented like the old text."""
    lines = content.replace(b"\r\n", b"\n").strip(b"\n").rstrip().split(b"\n")
    indent = _INDENT.match(data, start)
    if indent and indent[0] and not lines[0][:1].isspace():
        # White space counts in a string that continues on the next line.
        flat = not lines[-1][:1].isspace() and b'R"' not in content and b"\\\n" not in content
        # Directives stay at the margin.
        margin = [not flat or not line.strip() or line.startswith(b"#") for line in lines]
        lines = [line if at and margin[at] else indent[0] + line for at, line in enumerate(lines)]
    return (b"\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n").join(lines)


def _check_result(before: CSource, after: CSource, spot: tuple[int, int, int], where: str) -> None:
    """Raises: BadInput if the edit adds syntax errors or changes other declarations."""
    start, old_end, new_end = spot
    errors = list(_error_nodes(after.root))
    if len(errors) > len(list(_error_nodes(before.root))):
        line = first_row(errors[0]) + 1
        raise BadInput(f"{where} would no longer parse (line {line}): nothing was changed")
    if _declarations_outside(before, start, old_end) != _declarations_outside(after, start, new_end):
        raise BadInput(f"new_content would change what follows it in {where}: are its braces and parentheses closed?")


def _declarations_outside(source: CSource, start: int, end: int) -> list[tuple[str, str, int]]:
    """The declarations outside the replaced text."""
    return [
        (item.kind, item.name, len(item.scope))
        for item in source.declarations
        if item.outer.end_byte <= start
        or item.outer.start_byte >= end
        or (item.outer.start_byte < start and item.outer.end_byte > end)
    ]


def _error_nodes(root: "Node") -> "Iterator[Node]":
    """The syntax errors, missing tokens included."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            yield node
        if node.has_error:
            waiting += reversed(node.children)
