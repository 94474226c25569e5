"""What the reading tools ask of a Python file: the text of one definition, signature or variable, as it stands."""

import ast
from dataclasses import dataclass

from marid.syntax.python.edit.editable_source import EditableSource, parse_source, read_source
from marid.syntax.python.edit.header import header_span
from marid.syntax.python.edit.name_lookup import BlockStatement, locate_definition_node, locate_variable, row_span


@dataclass(frozen=True, kw_only=True)
class PythonExcerpt:
    """A piece of a file and the lines it is on, from 1, both included."""

    text: str
    first_line: int
    last_line: int


def find_definition(data: bytes, name: str) -> PythonExcerpt:
    """The whole lines of a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    first, end = row_span(source, locate_definition_node(source, parse_source(source), name))
    return _make_excerpt(source, source.row_starts[first], source.row_starts[end])


def find_signature(data: bytes, name: str) -> PythonExcerpt:
    """A function or class from its keyword to its colon. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    start, end = header_span(source, locate_definition_node(source, parse_source(source), name))
    return _make_excerpt(source, start, end)


def find_declaration(data: bytes, name: str) -> PythonExcerpt:
    """The lines of an assignment, or itself alone where it shares them. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    start, end = declaration_span(source, locate_variable(source, parse_source(source), name))
    return _make_excerpt(source, start, end)


def declaration_span(source: EditableSource, found: BlockStatement) -> tuple[int, int]:
    """The places where a declaration starts and ends: its whole rows if nothing else stands on them."""
    first, end = row_span(source, found.node)
    if shares_rows(source, found):
        node = found.node
        return source.offset(node.lineno, node.col_offset), end_of(source, node)
    return source.row_starts[first], source.row_starts[end]


def shares_rows(source: EditableSource, found: BlockStatement) -> bool:
    """Whether other code stands on the rows of a simple statement: a neighbour, or what it is the body of."""
    node, at = found.node, found.index
    before = source.text[source.row_starts[node.lineno - 1] : source.offset(node.lineno, node.col_offset)]
    following = found.block[at + 1].lineno if at + 1 < len(found.block) else 0
    return bool(before.strip()) or following == node.end_lineno


def end_of(source: EditableSource, node: ast.stmt) -> int:
    """The place behind a statement."""
    return source.offset(node.end_lineno or 0, node.end_col_offset or 0)


def _make_excerpt(source: EditableSource, start: int, end: int) -> PythonExcerpt:
    return PythonExcerpt(
        text=source.text[start:end],
        first_line=source.line_number(start),
        last_line=source.line_number(max(start, end - 1)),
    )
