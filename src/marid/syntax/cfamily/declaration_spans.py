"""The bytes and lines of a C or C++ declaration, and its signature."""

import re
from typing import TYPE_CHECKING, NamedTuple

from marid.syntax.cfamily.declarations import CDeclaration, CSource
from marid.syntax.treesitter.nodes import child_at, first_row, last_row
from marid.text.display import clip

if TYPE_CHECKING:
    from tree_sitter import Node

_BLANK_OR_COMMENT = re.compile(rb"(?:\s|//[^\n]*\n|/\*.*?\*/)*", re.DOTALL)
_MAX_LINE_LENGTH = 160


class DeclarationSpan(NamedTuple):
    """Bytes of a file; `semicolon` is the position of the final `;`, or `end` without one."""

    start: int
    end: int
    semicolon: int


def declaration_span(item: CDeclaration, source: CSource) -> DeclarationSpan:
    """The whole declaration, with its head, its `;`, and the conditionals that it starts or ends in."""
    start, end = item.outer.start_byte, item.outer.end_byte
    semicolon = end
    if item.node.type.startswith("preproc_"):
        end = semicolon = start + len(source.data[start:end].rstrip())
    elif source.data[end - 1 : end] == b";":
        semicolon = end - 1
    elif (after := item.outer.next_sibling) is not None and source.data[after.start_byte : after.end_byte] == b";":
        semicolon, end = after.start_byte, after.end_byte
    for group in source.split_conditionals:
        if group.start < start < group.end <= end and _is_blank(source.data, group.directives[0][1], start):
            start = group.start
        elif start <= group.start < end <= group.end:
            end = semicolon = group.end
    return DeclarationSpan(start, end, semicolon)


def _is_blank(data: bytes, start: int, end: int) -> bool:
    return _BLANK_OR_COMMENT.fullmatch(data, start, end) is not None


def line_range(item: CDeclaration, source: CSource) -> tuple[int, int]:
    """First and last line, from 1."""
    start, end, _ = declaration_span(item, source) if source.split_conditionals else (0, 0, 0)
    if end and (start < item.outer.start_byte or end > item.outer.end_byte):
        return source.data.count(b"\n", 0, start) + 1, source.data.count(b"\n", 0, end) + 1
    return first_row(item.outer) + 1, last_row(item.outer) + 1


def signature_end(item: CDeclaration, source: CSource) -> int:
    """Where the signature ends: before the body, the value or the `;`."""
    start, (end, blank) = item.outer.start_byte, _raw_signature_end(item, source)
    return start + len(source.data[start:end].rstrip(blank))


def _raw_signature_end(item: CDeclaration, source: CSource) -> tuple[int, bytes]:
    """Where a signature ends, and the trailing characters to strip."""
    node, body = item.node, item.body
    if body is not None:
        before = child_at(node, node.child_count - 2) if body.type == "compound_statement" else None
        initialises = before is not None and before.type == "field_initializer_list"
        return (before if before is not None and initialises else body).start_byte, b" \t\r\n"
    if item.kind == "Macro":
        value = node.child_by_field_name("value")
        return value.start_byte if value else node.end_byte, b" \t\r\n\\"
    value = multiline_value(node)
    return value.start_byte if value else declaration_span(item, source).semicolon, b" \t\r\n;="


def multiline_value(node: "Node") -> "Node | None":
    """The value of a variable, if it is on several lines."""
    declarator = node.child_by_field_name("declarator")
    value = (declarator or node).child_by_field_name("value") or node.child_by_field_name("default_value")
    return value if value is not None and last_row(value) > first_row(value) else None


def signature(item: CDeclaration, source: CSource) -> str:
    """The signature as written, with only the first branch of a conditional inside it."""
    start, end = item.outer.start_byte, signature_end(item, source)
    kept = bytearray(source.data[start:end])
    for group in reversed(source.split_conditionals):
        cut = group.directives[1][0]
        if start < cut < end:
            del kept[cut - start : group.end - start]
    return kept.rstrip().decode("utf-8", "replace")


def signature_line(item: CDeclaration, source: CSource) -> str:
    """The signature on one line."""
    return clip(" ".join(signature(item, source).split()), _MAX_LINE_LENGTH)
