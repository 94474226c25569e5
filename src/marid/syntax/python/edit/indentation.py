"""Reindent Python code: blocks and their continuation rows move, text inside strings stays."""

import ast
import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from marid.core.errors import BadInput
from marid.syntax.python.scopes import blocks, docstring_node
from marid.syntax.python.source import DEFINITION_NODES, PythonSource, leading_space, normalize_newlines, parse_text

IndentStack: TypeAlias = tuple[str, ...]
"""The indentations of the blocks around a row, outermost first; the last is that of its own block."""
IndentSteps: TypeAlias = tuple[str, ...]
"""The steps by which the blocks of some code are indented, the commonest first; empty if it has no blocks."""
DEFAULT_STEP = "    "
_HOLDER = "if 1:\n"
_ESCAPED_END = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")
_HOLDERS = (*DEFINITION_NODES, ast.If, ast.For, ast.While, ast.With, ast.Try)


@dataclass(frozen=True, kw_only=True)
class RowLayout:
    """What each row of a text is. A row that is in no field and not blank continues the statement before it."""

    rows: list[str]
    # Rows that a statement starts on.
    starts: dict[int, IndentStack] = field(default_factory=dict[int, IndentStack])
    # Rows with only a comment.
    comments: dict[int, IndentStack] = field(default_factory=dict[int, IndentStack])
    # Rows that begin inside a string.
    in_string: set[int] = field(default_factory=set[int])
    # The first and last row of each docstring that is one string on several rows.
    docstrings: dict[int, int] = field(default_factory=dict[int, int])


def analyze_rows(text: str, tree: ast.AST) -> RowLayout:
    """The layout of a text that parses to `tree`."""
    import tokenize  # imported on use: only edits need it

    made = RowLayout(rows=text.split("\n"))
    docs = [docstring_node(node) for node in ast.walk(tree) if isinstance(node, DEFINITION_NODES)]
    ends = {doc.lineno - 1: (doc.end_lineno or 0) - 1 for doc in docs if doc}
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
                if ends.get(first - 1) == last - 1 > first - 1:
                    made.docstrings[first - 1] = last - 1
            fresh = kind == tokenize.NEWLINE
    return made


def _start_statement(made: RowLayout, row: int, chain: IndentStack, above: list[int]) -> None:
    """Record a statement; comments above it with the same indentation belong to its block."""
    made.starts[row] = chain
    for comment in above:
        if leading_space(made.rows[comment]) == chain[-1]:
            made.comments[comment] = chain
    above.clear()


def detect_steps(source: PythonSource, tree: ast.AST) -> IndentSteps:
    """The steps of the blocks below a node that are on their own rows."""
    steps: Counter[str] = Counter()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        for block in blocks(node):
            pending.extend(block)
        if isinstance(node, _HOLDERS):
            outer, inner = source.indent(node.lineno - 1), source.indent(node.body[0].lineno - 1)
            if node.body[0].lineno > node.lineno and inner.startswith(outer) and inner != outer:
                steps[inner.removeprefix(outer)] += 1
    return tuple(step for step, _ in steps.most_common())


@dataclass(frozen=True, kw_only=True)
class ParsedCode:
    """Code that parses. `holder_rows` is 1 if an `if` was added before it so that indented code parses, else 0."""

    layout: RowLayout
    tree: ast.Module
    holder_rows: int

    @property
    def steps(self) -> "Counter[str | None]":
        """The relative indentations of blocks; None where tabs and spaces cannot be compared."""
        chains = {chain[: at + 1] for chain in self.layout.starts.values() for at in range(len(chain))}
        found: Counter[str | None] = Counter()
        for chain in chains:
            if len(chain) > self.holder_rows + 1:
                outer, inner = chain[-2:]
                found[inner.removeprefix(outer) if inner.startswith(outer) else None] += 1
        return found


def parse_code(content: str, base: str, usual: IndentSteps) -> ParsedCode:
    """Parse code at any indentation, even if only its first line has lost it. Raises: BadInput with the line."""
    rows = normalize_newlines(content).split("\n")
    skipped = next((at for at, row in enumerate(rows) if row.strip()), len(rows))
    text = "\n".join(rows[skipped:]).rstrip()
    if not text:
        raise BadInput("the new code is empty")
    tries = [(_HOLDER + text, 1), (text, 0)] if leading_space(text) else [(text, 0)]
    if base and not leading_space(text):
        tries.append((_HOLDER + base + text, 1))
    errors: list[SyntaxError] = []
    found: list[ParsedCode] = []
    for tried, holder_rows in tries:
        try:
            found.append(_parse_in_holder(tried, holder_rows))
        except SyntaxError as error:
            errors.append(error)
    if not found:
        line = (errors[0].lineno or 1) - tries[0][1] + skipped
        raise BadInput(f"line {max(line, 1)} of the new code: {errors[0].msg}")
    return min(found, key=lambda each: (len(each.steps), len(each.steps.keys() - {*(usual or (DEFAULT_STEP,))})))


def _parse_in_holder(text: str, holder_rows: int) -> ParsedCode:
    """The code, if all of it is in the added block. Raises: SyntaxError."""
    tree = inner = parse_text(text)
    if holder_rows:
        holder, *others = tree.body
        if others or not isinstance(holder, ast.If):
            raise SyntaxError("its lines do not share an indentation")
        inner = ast.Module(holder.body, [])
    return ParsedCode(layout=analyze_rows(text, tree), tree=inner, holder_rows=holder_rows)


def reindent(code: ParsedCode, base: str, usual: IndentSteps) -> str:
    """The code with its outermost statements at `base` and blocks indented as usual, without a final `\\n`."""
    steps = code.steps
    own = steps.most_common(1)[0][0] if steps else None
    keeps = None not in steps and (not usual or own is None or own in usual)
    unit = usual[0] if usual else DEFAULT_STEP
    tabbed = unit if own == "\t" and not keeps else "\t"

    def new_indent(chain: IndentStack) -> str:
        if keeps:
            return base + chain[-1].removeprefix(chain[code.holder_rows] if len(chain) > code.holder_rows else "")
        return base + unit * (len(chain) - 1 - code.holder_rows)

    return "\n".join(_move_rows(code, new_indent, tabbed)[code.holder_rows :])


def _move_rows(code: ParsedCode, new: Callable[[IndentStack], str], tabbed: str) -> list[str]:
    layout = code.layout
    rows = list(layout.rows)
    old = now = ""
    for at, row in enumerate(layout.rows):
        if at in layout.starts:
            old, now = layout.starts[at][-1], new(layout.starts[at])
            rows[at] = now + row[len(leading_space(row)) :]
        elif at in layout.comments:
            block = _enclosing_block(row, layout.comments[at], code.holder_rows)
            rows[at] = move_row(row, block[-1], new(block))
        elif at not in layout.in_string and row.strip():
            rows[at] = move_row(row, old, now, tabbed)
    for first, last in layout.docstrings.items():
        _move_docstring(rows, (first, last), layout.starts[first][-1], new(layout.starts[first]))
    return rows


def move_row(row: str, old: str, new: str, tabbed: str = "\t") -> str:
    """Move a continuation row of one that moved from `old` to `new`; further tabs become `tabbed`."""
    space = leading_space(row)
    if space.startswith(old):
        return new + space[len(old) :].replace("\t", tabbed) + row[len(space) :]
    width = len(space.expandtabs()) + len(new.expandtabs()) - len(old.expandtabs())
    return " " * max(width, 0) + row[len(space) :]


def _enclosing_block(row: str, chain: IndentStack, root: int) -> IndentStack:
    """The innermost block around a comment that is not indented more than the comment."""
    width, depth = len(leading_space(row).expandtabs()), len(chain)
    while depth > root + 1 and len(chain[depth - 1].expandtabs()) > width:
        depth -= 1
    return chain[:depth]


def _move_docstring(rows: list[str], span: tuple[int, int], old: str, new: str) -> None:
    """Move a docstring if all of it is indented like its code; rows after an escaped line ending stay."""
    first, last = span
    opening = rows[first].strip()
    raw = "r" in opening[:2].lower()
    own = [
        at
        for at in range(first + 1, last + 1)
        if raw or not _ESCAPED_END.search(rows[at - 1]) or (at == first + 1 and len(opening.lstrip("uU")) == 4)
    ]
    if all(rows[at].startswith(old) or not rows[at].strip() for at in own):
        for at in own:
            if rows[at].startswith(old):
                rows[at] = new + rows[at][len(old) :]
