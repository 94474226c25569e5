"""The head of a Python definition: from `def` or `class` to the colon."""

import ast
import re

from marid.core.errors import BadInput
from marid.syntax.python.edit.editable_source import EditableSource, leading_space, normalize_newlines, parse_text
from marid.syntax.python.edit.indentation import move_row
from marid.syntax.python.edit.name_lookup import DEFINITION_NODES, DefinitionNode
from marid.syntax.python.edit.row_layout import analyze_rows

# All that can stand between the last expression of a head and its colon.
_TO_COLON = re.compile(r"(?>[^#:]+|#[^\r\n]*)*+:")
_NAME = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+(\w+)")


def header_span(source: EditableSource, node: DefinitionNode) -> tuple[int, int]:
    """The places in the text where the head starts and ends, the colon included."""
    start = source.offset(node.lineno, node.col_offset)
    last = max((source.offset(*at) for at in _expression_ends(node)), default=start)
    match = _TO_COLON.match(source.text, last)
    return start, match.end() if match else last


def _expression_ends(node: DefinitionNode) -> list[tuple[int, int]]:
    """Where the expressions in a head end: strings, lambdas and slices with colons of their own are in them."""
    parts: list[ast.expr | ast.arg | ast.keyword | None] = list(getattr(node, "type_params", ()))  # since Python 3.12
    if isinstance(node, ast.ClassDef):
        parts += [*node.bases, *node.keywords]
    else:
        given = node.args
        parts += [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
        parts += [*given.defaults, *given.kw_defaults, node.returns]
    return [(part.end_lineno or 0, part.end_col_offset or 0) for part in parts if part is not None]


def name_span(source: EditableSource, node: DefinitionNode) -> tuple[int, int]:
    """The places in the text where the name itself starts and ends."""
    start = source.offset(node.lineno, node.col_offset)
    match = _NAME.match(source.text, start)
    return match.span(1) if match else (start, start)


def fit_header(node: DefinitionNode, given: str, base: str) -> str:
    """A new head for a definition that is indented by `base`, with `\\n` between its rows. Raises: BadInput."""
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
        old = base  # as it was read: only the first row has lost its indentation
    for at in free:
        rows[at] = move_row(rows[at], old, base)
    return "\n".join(rows)


def _parse_header(text: str) -> DefinitionNode:
    source = EditableSource(text=f"{text} pass")
    try:
        body = parse_text(source.text).body
    except SyntaxError as error:
        words = f"line {error.lineno or 1} of the new signature: {error.msg}"
        raise BadInput(f"{words}; it ends with its colon, without a comment or a body behind it") from error
    node = body[0] if len(body) == 1 else None
    if not isinstance(node, DEFINITION_NODES):
        raise BadInput("the new signature must be one line or more from 'def', 'async def' or 'class' to the colon")
    if node.decorator_list or header_span(source, node) != (0, len(text)):
        raise BadInput("the new signature must start with 'def', 'async def' or 'class' and end with its colon")
    return node


def _kind(node: DefinitionNode) -> str:
    return "class" if isinstance(node, ast.ClassDef) else "function"
