"""The text of one definition, signature or variable of a Python file, as it stands."""

from dataclasses import dataclass

from marid.syntax.python.edit.name_lookup import BlockStatement, locate_definition_node, locate_variable
from marid.syntax.python.source import PythonSource, read_source


@dataclass(frozen=True, kw_only=True)
class PythonExcerpt:
    """A piece of a file and the lines it is on, from 1, both included."""

    text: str
    first_line: int
    last_line: int


def find_definition(data: bytes, name: str) -> PythonExcerpt:
    """The whole lines of a function or class. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    first, end = source.row_span(locate_definition_node(source, name))
    return _make_excerpt(source, source.row_starts[first], source.row_starts[end])


def find_signature(data: bytes, name: str) -> PythonExcerpt:
    """A function or class from its keyword to its colon. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    return _make_excerpt(source, *source.header_span(locate_definition_node(source, name)))


def find_declaration(data: bytes, name: str) -> PythonExcerpt:
    """The lines of an assignment, or itself alone where it shares them. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    return _make_excerpt(source, *declaration_span(source, locate_variable(source, name)))


def declaration_span(source: PythonSource, found: BlockStatement) -> tuple[int, int]:
    """The offsets where a declaration starts and ends: its whole rows if no other code is on them."""
    if shares_rows(source, found):
        return source.start(found.node), source.end(found.node)
    first, end = source.row_span(found.node)
    return source.row_starts[first], source.row_starts[end]


def shares_rows(source: PythonSource, found: BlockStatement) -> bool:
    """Whether other code stands on the rows of a simple statement: a neighbour, or the statement that holds it."""
    node, at = found.node, found.index
    before = source.text[source.row_starts[node.lineno - 1] : source.start(node)]
    following = found.block[at + 1].lineno if at + 1 < len(found.block) else 0
    return bool(before.strip()) or following == node.end_lineno


def _make_excerpt(source: PythonSource, start: int, end: int) -> PythonExcerpt:
    return PythonExcerpt(
        text=source.text[start:end],
        first_line=source.line_number(start),
        last_line=source.line_number(max(start, end - 1)),
    )
