"""What each row of a piece of Python is: the start of a statement, a comment, inside a string, or going on."""

import ast
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from marid.syntax.python.edit.editable_source import leading_space

IndentStack: TypeAlias = tuple[str, ...]
"""The indentations of the blocks around a row, outermost first; the last is its own block's."""


@dataclass(frozen=True, kw_only=True)
class RowLayout:
    """A row that is nowhere in here and not blank goes on with the statement before it."""

    rows: list[str]
    starts: dict[int, IndentStack] = field(default_factory=dict[int, IndentStack])
    """Rows that a statement starts on."""
    comments: dict[int, IndentStack] = field(default_factory=dict[int, IndentStack])
    """Comments on rows of their own."""
    in_string: set[int] = field(default_factory=set[int])
    """Rows that begin inside a string."""
    docstrings: dict[int, int] = field(default_factory=dict[int, int])
    """The first and the last row of each docstring that is one string on several rows."""


def analyze_rows(text: str, tree: ast.AST) -> RowLayout:
    """The layout of a text that parses to `tree`."""
    import tokenize  # imported when used: only edits need it

    made = RowLayout(rows=text.split("\n"))
    ends = dict(_docstring_rows(tree))
    stack, fresh = [""], True
    above: list[int] = []
    for kind, string, (first, _), (last, _), _ in tokenize.generate_tokens(io.StringIO(text).readline):
        if kind == tokenize.INDENT:
            stack.append(string)
        elif kind == tokenize.DEDENT:
            stack.pop()
        elif kind == tokenize.COMMENT and fresh:
            made.comments[first - 1] = tuple(stack)
            above.append(first - 1)
        elif kind not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
            made.in_string.update(range(first, last))
            if fresh:
                _start_statement(made, first - 1, tuple(stack), above)
                _note_docstring(made, ends, first - 1, last - 1)
            fresh = kind == tokenize.NEWLINE
    return made


def _start_statement(made: RowLayout, row: int, chain: IndentStack, above: list[int]) -> None:
    """A statement starts here; the comments above it that stand as deep are of its block."""
    made.starts[row] = chain
    for comment in above:
        if leading_space(made.rows[comment]) == chain[-1]:
            made.comments[comment] = chain
    above.clear()


def _note_docstring(made: RowLayout, ends: dict[int, int], first: int, last: int) -> None:
    if ends.get(first) == last > first:
        made.docstrings[first] = last


def _docstring_rows(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """The first and the last row of each docstring of a function or class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and is_docstring(node.body[0]):
            yield node.body[0].lineno - 1, (node.body[0].end_lineno or 0) - 1


def is_docstring(node: ast.stmt) -> bool:
    """Whether a first statement is one that Python takes for a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
