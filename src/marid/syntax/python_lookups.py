"""What the reading tools ask of a Python file: the text of one definition, signature or variable, as it stands."""

import ast
from dataclasses import dataclass

from marid.syntax.python_header import head_span
from marid.syntax.python_names import Found, definition_node, span, variable
from marid.syntax.python_source import Source, parsed, read


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A piece of a file and the lines it is on, from 1, both included."""

    text: str
    first: int
    last: int


def find_definition(data: bytes, name: str) -> Excerpt:
    """The whole lines of a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read(data)
    first, end = span(source, definition_node(source, parsed(source), name))
    return _excerpt(source, source.starts[first], source.starts[end])


def find_signature(data: bytes, name: str) -> Excerpt:
    """A function or class from its keyword to its colon. Raises: BadInput, NotFound, Exhausted."""
    source = read(data)
    start, end = head_span(source, definition_node(source, parsed(source), name))
    return _excerpt(source, start, end)


def find_declaration(data: bytes, name: str) -> Excerpt:
    """The lines of an assignment, or itself alone where it shares them. Raises: BadInput, NotFound, Exhausted."""
    source = read(data)
    start, end = declaration_span(source, variable(source, parsed(source), name))
    return _excerpt(source, start, end)


def declaration_span(source: Source, found: Found) -> tuple[int, int]:
    """The places where a declaration starts and ends: its whole rows if nothing else stands on them."""
    first, end = span(source, found.node)
    if shares_rows(source, found):
        node = found.node
        return source.offset(node.lineno, node.col_offset), end_of(source, node)
    return source.starts[first], source.starts[end]


def shares_rows(source: Source, found: Found) -> bool:
    """Whether other code stands on the rows of a simple statement: a neighbour, or what it is the body of."""
    node, at = found.node, found.index
    before = source.text[source.starts[node.lineno - 1] : source.offset(node.lineno, node.col_offset)]
    following = found.block[at + 1].lineno if at + 1 < len(found.block) else 0
    return bool(before.strip()) or following == node.end_lineno


def end_of(source: Source, node: ast.stmt) -> int:
    """The place behind a statement."""
    return source.offset(node.end_lineno or 0, node.end_col_offset or 0)


def _excerpt(source: Source, start: int, end: int) -> Excerpt:
    return Excerpt(text=source.text[start:end], first=source.line(start), last=source.line(max(start, end - 1)))
