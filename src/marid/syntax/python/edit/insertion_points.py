"""Where new Python code goes: the row, and the blank lines around it, as between its neighbours."""

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.edit.name_lookup import (
    ScopeNode,
    ambiguity_message,
    definitions,
    missing_message,
    on_line,
    split_name,
    variables,
)
from marid.syntax.python.scopes import docstring_node
from marid.syntax.python.source import DEFINITION_NODES, PythonSource


@dataclass(frozen=True, kw_only=True)
class StatementRange:
    """The statements to insert before or after: `block[first:end]`."""

    block: list[ast.stmt]
    first: int
    end: int


@dataclass(frozen=True, kw_only=True)
class InsertionGap:
    """The rows that new code replaces, usually none, and the blank lines around it."""

    first: int
    end: int
    above: int
    below: int


def find_anchor(source: PythonSource, scope: ScopeNode, path: Sequence[str], symbol: str) -> StatementRange:
    """The statements of a scope with the anchor's name, which may include the scope's name.

    Adjacent statements of one name, such as overloads, count as one.
    Raises: NotFound, BadInput for a name that is ambiguous or of another scope.
    """
    if not symbol.strip():
        raise BadInput("anchor_symbol is needed: the name to insert the code before or after")
    wanted, line = split_name(symbol)
    if wanted[:-1] not in ([], list(path)):
        where = f"in '{'.'.join(path)}'" if path else "at the top of the module"
        raise BadInput(f"the anchor '{symbol}' is not {where}, the scope of the new name")
    found = definitions(scope).get(wanted[-1]) or variables(scope).get(wanted[-1]) or []
    found = on_line(source, found, line)
    if not found:
        suffix = f"@{line}" if line else ""
        raise NotFound(f"anchor: {missing_message(source, '.'.join((*path, wanted[-1])) + suffix, definitions)}")
    spot = StatementRange(block=found[0].block, first=found[0].index, end=found[-1].index + 1)
    if any(one.block is not spot.block for one in found) or spot.end - spot.first != len(found):
        raise BadInput(f"anchor: {ambiguity_message(source, symbol, found)}")
    return spot


def top_index(scope: ScopeNode) -> int:
    """The index of the first statement after the docstring and, in a module, after the first imports."""
    heads = (ast.Import, ast.ImportFrom) if isinstance(scope, ast.Module) else ()
    at = 1 if docstring_node(scope) else 0
    while at < len(scope.body) and isinstance(scope.body[at], heads):
        at += 1
    while 0 < at < len(scope.body) and scope.body[at].lineno <= (scope.body[at - 1].end_lineno or 0):
        at += 1  # shares a row with the one before
    return at


def usual_blank_lines(source: PythonSource, block: list[ast.stmt], *, outermost: bool) -> int:
    """The usual number of blank lines between the definitions of a block, by default that of PEP 8."""
    seen: Counter[int] = Counter()
    for one, other in pairwise(block):
        if isinstance(one, DEFINITION_NODES) or isinstance(other, DEFINITION_NODES):
            rows = range(source.row_span(one)[1], source.row_span(other)[0])
            seen[sum(source.is_blank(row) for row in rows)] += 1
    return seen.most_common(1)[0][0] if seen else 2 if outermost else 1


def gap_after(source: PythonSource, spot: StatementRange, apart: int) -> InsertionGap:
    """Directly after statements and the comments that are indented more."""
    last = spot.end
    while last < len(spot.block) and source.row_span(spot.block[last])[0] < source.row_span(spot.block[last - 1])[1]:
        last += 1
    row = source.row_span(spot.block[last - 1])[1]
    own = source.indent(source.row_span(spot.block[spot.first])[0])
    while row < source.row_count and _row_starts_with(source, row, "#") and len(source.indent(row)) > len(own):
        row += 1
    below = max(0, apart - _count_blank_rows(source, row, 1)) if last < len(spot.block) else 0
    return InsertionGap(first=row, end=row, above=apart, below=below)


def gap_before(source: PythonSource, spot: StatementRange, apart: int) -> InsertionGap:
    """Directly before statements and the comments above that belong to them."""
    first, outermost = spot.first, spot.block is source.tree.body
    while first and source.row_span(spot.block[first])[0] < source.row_span(spot.block[first - 1])[1]:
        first -= 1
    start = source.row_span(spot.block[first])[0]
    row, taken = start, _code_end_before(source.tree, start)
    while row > taken and _is_own_comment(source, row - 1) and source.indent(row - 1) == source.indent(start):
        row -= 1
    if row == 0 and start:
        row = start  # comments at the top belong to the file
    parted = first > 0 or (outermost and row > 0)
    return InsertionGap(
        first=row, end=row, above=max(0, apart - _count_blank_rows(source, row - 1, -1)) if parted else 0, below=apart
    )


def gap_at_end(source: PythonSource, apart: int) -> InsertionGap:
    """At the end of a module, after all comments."""
    row = source.row_count
    while row and source.is_blank(row - 1):
        row -= 1
    return InsertionGap(first=row, end=row, above=apart if row else 0, below=0)


def _code_end_before(tree: ast.Module, row: int) -> int:
    """The row after all code that ends before `row`: a row of a string may look like a comment."""
    ends = (getattr(node, "end_lineno", None) or 0 for node in ast.walk(tree))
    return max((end for end in ends if end <= row), default=0)


def _is_own_comment(source: PythonSource, row: int) -> bool:
    return _row_starts_with(source, row, "#") and not _row_starts_with(source, row, "#endregion")


def _row_starts_with(source: PythonSource, row: int, text: str) -> bool:
    return source.row(row).lstrip().startswith(text)


def _count_blank_rows(source: PythonSource, row: int, step: int) -> int:
    count = 0
    while source.is_blank(row):
        row, count = row + step, count + 1
    return count
