"""The text of one definition, signature or variable of a Python file, and new signatures."""

import ast
import re
from dataclasses import dataclass

from marid.core.errors import BadInput
from marid.syntax.python.edit.indentation import analyze_rows, move_row
from marid.syntax.python.edit.name_lookup import BlockStatement, locate_definition_node, locate_variable
from marid.syntax.python.source import (
    DEFINITION_NODES,
    DefinitionNode,
    PythonSource,
    leading_space,
    normalize_newlines,
    parse_text,
    read_source,
)

_NAME = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+(\w+)")


@dataclass(frozen=True, kw_only=True)
class PythonExcerpt:
    """A piece of a file and its lines, from 1, both included."""

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
    """The lines of an assignment, or only itself if it shares them. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    return _make_excerpt(source, *declaration_span(source, locate_variable(source, name)))


def declaration_span(source: PythonSource, found: BlockStatement) -> tuple[int, int]:
    """The offsets of a declaration: its whole rows if no other code is on them."""
    if shares_rows(source, found):
        return source.start(found.node), source.end(found.node)
    first, end = source.row_span(found.node)
    return source.row_starts[first], source.row_starts[end]


def shares_rows(source: PythonSource, found: BlockStatement) -> bool:
    """Whether other code is on the rows of a simple statement: a neighbour or the enclosing statement."""
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


def name_span(source: PythonSource, node: DefinitionNode) -> tuple[int, int]:
    """The offsets of the name itself."""
    start = source.start(node)
    match = _NAME.match(source.text, start)
    return match.span(1) if match else (start, start)


def fit_header(node: DefinitionNode, given: str, base: str) -> str:
    """A new header for a definition indented by `base`, with `\\n` between rows. Raises: BadInput."""
    text = normalize_newlines(given).strip()
    text = text if text.endswith(":") else f"{text}:"
    made = _parse_header(text)
    if isinstance(made, ast.ClassDef) != isinstance(node, ast.ClassDef):
        raise BadInput(f"'{node.name}' is a {_kind(node)}; its signature cannot become that of a {_kind(made)}")
    rows = text.split("\n")
    inside = analyze_rows(f"{text} pass", made).in_string
    free = [at for at in range(1, len(rows)) if at not in inside and rows[at].strip()]
    old = leading_space(normalize_newlines(given).lstrip("\n"))
    if not old and all(rows[at].startswith(base) for at in free):
        old = base  # copied from the file: only the first row lost its indentation
    for at in free:
        rows[at] = move_row(rows[at], old, base)
    return "\n".join(rows)


def _parse_header(text: str) -> DefinitionNode:
    try:
        source = PythonSource(text=f"{text} pass", tree=parse_text(f"{text} pass"))
    except SyntaxError as error:
        reason = f"line {error.lineno or 1} of the new signature: {error.msg}"
        raise BadInput(f"{reason}; end it with its colon, without a comment or a body") from error
    body = source.tree.body
    node = body[0] if len(body) == 1 else None
    if not isinstance(node, DEFINITION_NODES):
        raise BadInput("the new signature must be one line or more from 'def', 'async def' or 'class' to the colon")
    if node.decorator_list or source.header_span(node) != (0, len(text)):
        raise BadInput("the new signature must start with 'def', 'async def' or 'class' and end with its colon")
    return node


def _kind(node: DefinitionNode) -> str:
    return "class" if isinstance(node, ast.ClassDef) else "function"
