"""Read nodes of a syntax tree, and pieces of the text below them.

`Point.row` and `Point.column` of tree-sitter 0.26.0 hand out an int that they do not own, and the process crashes some
time later (py-tree-sitter issue 472). So points are used here only, and indexed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def node_text(node: "Node | None", data: bytes) -> str:
    """The node's own text; bytes that are not UTF-8 become replacement characters."""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""


def field_text(node: "Node", field: str, data: bytes) -> str:
    """The text of a field, empty without one."""
    return node_text(node.child_by_field_name(field), data)


def first_row(node: "Node") -> int:
    """The row, from 0, of the first character."""
    return node.start_point[0]


def last_row(node: "Node") -> int:
    """The row of the last character; some nodes end at the start of the next line."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def child_at(node: "Node", index: int) -> "Node | None":
    """A child by index, or None (the library raises)."""
    return node.child(index) if 0 <= index < node.child_count else None


def named_child_at(node: "Node", index: int = 0) -> "Node | None":
    """A named child by index, or None (the library raises)."""
    return node.named_child(index) if 0 <= index < node.named_child_count else None


@dataclass(frozen=True, kw_only=True)
class CodeExcerpt:
    """Some of a file's text, and the first and last line of each piece of it."""

    text: str
    spans: tuple[tuple[int, int], ...]


def line_start(data: bytes, start: int) -> int:
    """Where the line begins, if only white space stands before `start`; else `start`."""
    begin = data.rfind(b"\n", 0, start) + 1
    return start if data[begin:start].strip(b" \t") else begin


def apply_cuts(data: bytes, cuts: Iterable[tuple[int, int, bytes]]) -> str:
    """The text with replacements for some spans; a span that begins inside another is ignored."""
    kept: list[bytes] = []
    at = 0
    for start, end, instead in cuts:
        if start >= at:
            kept += (data[at:start], instead)
            at = end
    return b"".join((*kept, data[at:])).decode("utf-8", "replace")
