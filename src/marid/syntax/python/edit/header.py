"""The header of a Python definition: from `def` or `class` to the colon."""

import ast
import re

from marid.core.errors import BadInput
from marid.syntax.python.edit.indentation import analyze_rows, move_row
from marid.syntax.python.source import (
    DEFINITION_NODES,
    DefinitionNode,
    PythonSource,
    leading_space,
    normalize_newlines,
    parse_text,
)

_NAME = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+(\w+)")


def name_span(source: PythonSource, node: DefinitionNode) -> tuple[int, int]:
    """The offsets where the name itself starts and ends."""
    start = source.start(node)
    match = _NAME.match(source.text, start)
    return match.span(1) if match else (start, start)


def fit_header(node: DefinitionNode, given: str, base: str) -> str:
    """A new header for a definition that is indented by `base`, with `\\n` between its rows. Raises: BadInput."""
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
        old = base  # copied from the file: only the first row has lost its indentation
    for at in free:
        rows[at] = move_row(rows[at], old, base)
    return "\n".join(rows)


def _parse_header(text: str) -> DefinitionNode:
    try:
        source = PythonSource(text=f"{text} pass", tree=parse_text(f"{text} pass"))
    except SyntaxError as error:
        reason = f"line {error.lineno or 1} of the new signature: {error.msg}"
        raise BadInput(f"{reason}; it ends with its colon, without a comment or a body behind it") from error
    body = source.tree.body
    node = body[0] if len(body) == 1 else None
    if not isinstance(node, DEFINITION_NODES):
        raise BadInput("the new signature must be one line or more from 'def', 'async def' or 'class' to the colon")
    if node.decorator_list or source.header_span(node) != (0, len(text)):
        raise BadInput("the new signature must start with 'def', 'async def' or 'class' and end with its colon")
    return node


def _kind(node: DefinitionNode) -> str:
    return "class" if isinstance(node, ast.ClassDef) else "function"
