"""Read nodes and their text.

`Point.row` and `Point.column` of tree-sitter 0.26.0 return an int without owning it, and the process crashes later
(py-tree-sitter issue 472). So points are only used here, by index.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, AnyStr

if TYPE_CHECKING:
    from tree_sitter import Node


def node_text(node: "Node | None", data: bytes) -> str:
    """The text of a node; invalid UTF-8 becomes replacement characters."""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""


def field_text(node: "Node", field: str, data: bytes) -> str:
    """The text of a field; empty if the node has none."""
    return node_text(node.child_by_field_name(field), data)


def first_row(node: "Node") -> int:
    """The row of the first character, from 0."""
    return node.start_point[0]


def last_row(node: "Node") -> int:
    """The row of the last character; some nodes end at the start of the next row."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def child_at(node: "Node", index: int) -> "Node | None":
    """A child by index, or None (the library raises)."""
    return node.child(index) if 0 <= index < node.child_count else None


def named_child_at(node: "Node", index: int = 0) -> "Node | None":
    """A named child by index, or None (the library raises)."""
    return node.named_child(index) if 0 <= index < node.named_child_count else None


def body_start(node: "Node", body: "Node") -> int:
    """The start of the body, or of the member initializers of a C++ constructor."""
    before = child_at(node, node.child_count - 2) if body.type == "compound_statement" else None
    return before.start_byte if before and before.type == "field_initializer_list" else body.start_byte


@dataclass(frozen=True, kw_only=True)
class CodeExcerpt:
    """Pieces of a file as text, and the first and last line of each."""

    text: str
    spans: tuple[tuple[int, int], ...]


def line_start(data: bytes, start: int) -> int:
    """The start of the line, if there is only white space before `start`; else `start`."""
    begin = data.rfind(b"\n", 0, start) + 1
    return start if data[begin:start].strip(b" \t") else begin


def cut_pieces(text: AnyStr, cuts: Iterable[tuple[int, int, AnyStr]]) -> Iterator[AnyStr]:
    """The pieces of a text with some spans replaced; a span that starts inside another is ignored."""
    at = 0
    for start, end, instead in cuts:
        if start >= at:
            yield from (text[at:start], instead)
            at = end
    yield text[at:]
