"""What we read off a node of a syntax tree, past the traps of the library.

`Point.row` and `Point.column` of tree-sitter 0.26.0 hand out an int that they do not own, and the process crashes some
time later (py-tree-sitter issue 472): points are indexed here, and nowhere else used.
"""

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
    """A child by its place, or None (the library raises)."""
    return node.child(index) if 0 <= index < node.child_count else None


def named_child_at(node: "Node", index: int = 0) -> "Node | None":
    """A child that is more than punctuation by its place among those, or None (the library raises)."""
    return node.named_child(index) if 0 <= index < node.named_child_count else None
