"""Add definitions to a Python file, and move them. Blank lines around new code are as between its neighbours."""

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.edit.edits import EditResult, name_span, remove_statement, splice
from marid.syntax.python.edit.indentation import DEFAULT_STEP, detect_steps, parse_code, reindent
from marid.syntax.python.edit.name_lookup import (
    ScopeNode,
    ambiguity_message,
    definitions_by_name,
    locate_definition,
    locate_definition_node,
    missing_message,
    on_line,
    split_name,
    variables_by_name,
)
from marid.syntax.python.scopes import blocks, docstring_node
from marid.syntax.python.source import DEFINITION_NODES, PythonSource, commonest_line_ending, read_source

AnchorType: TypeAlias = Literal["top", "bottom", "before", "after"]
_OWN_COMMENT = re.compile(r"\s*#(?!endregion)")
_JOINT = re.compile(r"\\(?:\r\n|\n|\r)\Z")


@dataclass(frozen=True, kw_only=True)
class InsertionAnchor:
    """An end of a scope, or a name in it."""

    kind: AnchorType
    symbol: str = ""


@dataclass(frozen=True, kw_only=True)
class ExtractedDefinition:
    """A definition to be moved: its text under its new name, its first line, and the file without it."""

    text: str
    rest: EditResult
    first_line: int


class StatementRange(NamedTuple):
    """The statements to insert before or after: `block[first:end]`."""

    block: list[ast.stmt]
    first: int
    end: int


class InsertionGap(NamedTuple):
    """The rows that new code replaces, usually none, and the blank lines around it."""

    first: int
    end: int
    above: int
    below: int


def add_definition(data: bytes, name: str, content: str, anchor: InsertionAnchor) -> EditResult:
    """Insert code that defines the dotted `name` in its scope. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    (*path, leaf), line = split_name(name)
    if line:
        raise BadInput(f"'{name}' must be the name of the new definition, without a line")
    home = locate_definition_node(source, ".".join(path)) if path else source.tree
    if anchor.kind in ("before", "after"):
        spot = _find_anchor(source, home, path, anchor.symbol)
    else:
        at = _top_index(home) if anchor.kind == "top" else len(home.body)
        spot = StatementRange(home.body, at, len(home.body))
    opened = _expand_inline_block(source, spot)
    if opened is not None:
        return add_definition(source.encode(opened), name, content, anchor)
    base = "" if spot.block is source.tree.body else source.indent(source.first_row(spot.block[0]))
    steps = detect_steps(source, source.tree)
    code = parse_code(content, base, steps)
    _check_name(home, code.tree, leaf)
    ending = commonest_line_ending(source.text) or commonest_line_ending(content) or "\n"
    return _insert(source, _find_gap(source, spot, anchor), reindent(code, base, steps), ending)


def extract_definition(data: bytes, name: str, leaf: str) -> ExtractedDefinition:
    """Take a function or class out, renamed to `leaf`. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    found = locate_definition(source, name)
    first, end = (source.row_starts[row] for row in source.row_span(found.node))
    text = source.text[first:end]
    if isinstance(found.node, DEFINITION_NODES) and found.node.name != leaf:
        start, stop = name_span(source, found.node)
        text = source.text[first:start] + leaf + source.text[stop:end]
    return ExtractedDefinition(text=text, rest=remove_statement(source, found), first_line=source.line_number(first))


def move_definition(data: bytes, name: str, dest_name: str, anchor: InsertionAnchor) -> EditResult:
    """Move a function or class within a file. Raises: BadInput, NotFound, Exhausted."""
    path, (*home, leaf) = split_name(name)[0], split_name(dest_name)[0]
    if home[: len(path)] == path:
        raise BadInput(f"'{name}' cannot be moved into itself")
    taken = extract_definition(data, name, leaf)
    gone = data.count(b"\n") - taken.rest.data.count(b"\n")
    symbol, _, line = anchor.symbol.rpartition("@")
    if symbol and line.isdecimal() and int(line) > taken.first_line:
        anchor = InsertionAnchor(kind=anchor.kind, symbol=f"{symbol}@{int(line) - gone}")
    return add_definition(taken.rest.data, dest_name, taken.text, anchor)


def _find_anchor(source: PythonSource, scope: ScopeNode, path: Sequence[str], symbol: str) -> StatementRange:
    """The statements of this name; adjacent ones, such as overloads, count as one. Raises: NotFound, BadInput."""
    if not symbol.strip():
        raise BadInput("anchor_symbol is needed: the name to insert the code before or after")
    wanted, line = split_name(symbol)
    if wanted[:-1] not in ([], list(path)):
        where = f"in '{'.'.join(path)}'" if path else "at the top of the module"
        raise BadInput(f"the anchor '{symbol}' is not {where}, the scope of the new name")
    leaf = wanted[-1]
    found = on_line(source, definitions_by_name(scope).get(leaf) or variables_by_name(scope).get(leaf) or [], line)
    if not found:
        name = ".".join((*path, leaf)) + (f"@{line}" if line else "")
        raise NotFound(f"anchor: {missing_message(source, name, definitions_by_name)}")
    spot = StatementRange(found[0].block, found[0].position, found[-1].position + 1)
    if any(each.block is not spot.block for each in found) or spot.end - spot.first != len(found):
        raise BadInput(f"anchor: {ambiguity_message(source, symbol, found)}")
    return spot


def _top_index(scope: ScopeNode) -> int:
    """The index of the first statement after the docstring and, in a module, after the first imports."""
    heads = (ast.Import, ast.ImportFrom) if isinstance(scope, ast.Module) else ()
    at = 1 if docstring_node(scope) else 0
    while at < len(scope.body) and isinstance(scope.body[at], heads):
        at += 1
    while 0 < at < len(scope.body) and scope.body[at].lineno <= (scope.body[at - 1].end_lineno or 0):
        at += 1  # shares a row with the one before
    return at


def _expand_inline_block(source: PythonSource, spot: StatementRange) -> str | None:
    """The text with a block that follows its colon moved to the next row; None if it is on its own rows already."""
    first = spot.block[0] if spot.block else None
    if spot.block is source.tree.body or first is None or isinstance(first, DEFINITION_NODES):
        return None
    start = at = source.start(first)
    while (joint := _JOINT.search(source.text, max(at - 3, 0), at)) or source.text[at - 1] in " \t\f":
        at = joint.start() if joint else at - 1
    if not source.text.endswith(":", 0, at):
        return None
    holder = next(node for node in ast.walk(source.tree) if any(block is spot.block for block in blocks(node)))
    step, *_ = *detect_steps(source, source.tree), DEFAULT_STEP
    indent = source.indent(getattr(holder, "lineno", 1) - 1) + step
    return source.text[:at] + source.line_ending + indent + source.text[start:]


def _find_gap(source: PythonSource, spot: StatementRange, anchor: InsertionAnchor) -> InsertionGap:
    block, outermost = spot.block, spot.block is source.tree.body
    if not outermost and len(block) == 1 and source.row(block[0].lineno - 1).strip() == "pass":
        return InsertionGap(block[0].lineno - 1, block[0].lineno, 0, 0)
    apart = _usual_blank_lines(source, block, outermost=outermost)
    if anchor.kind in ("top", "before") and spot.first < len(block):
        return _gap_before(source, spot, apart)
    if outermost and anchor.kind != "after":  # after all comments
        row = source.row_count - source.blank_rows(source.row_count - 1, -1)
        return InsertionGap(row, row, apart if row else 0, 0)
    return _gap_after(source, spot._replace(first=min(spot.first, len(block) - 1)), apart)


def _usual_blank_lines(source: PythonSource, block: list[ast.stmt], *, outermost: bool) -> int:
    """The usual number of blank lines between the definitions of a block, by default that of PEP 8."""
    seen: Counter[int] = Counter()
    for one, other in pairwise(block):
        if isinstance(one, DEFINITION_NODES) or isinstance(other, DEFINITION_NODES):
            rows = range(source.row_span(one)[1], source.first_row(other))
            seen[sum(source.is_blank(row) for row in rows)] += 1
    return seen.most_common(1)[0][0] if seen else 2 if outermost else 1


def _gap_after(source: PythonSource, spot: StatementRange, apart: int) -> InsertionGap:
    """Directly after statements and the comments that are indented more."""
    block, last = spot.block, spot.end
    while last < len(block) and source.first_row(block[last]) < source.row_span(block[last - 1])[1]:
        last += 1
    row = source.row_span(block[last - 1])[1]
    own = source.indent(source.first_row(block[spot.first]))
    while row < source.row_count and source.row(row).lstrip().startswith("#") and len(source.indent(row)) > len(own):
        row += 1
    return InsertionGap(row, row, apart, max(0, apart - source.blank_rows(row, 1)) if last < len(block) else 0)


def _gap_before(source: PythonSource, spot: StatementRange, apart: int) -> InsertionGap:
    """Directly before statements and the comments above that belong to them."""
    block, first = spot.block, spot.first
    while first and source.first_row(block[first]) < source.row_span(block[first - 1])[1]:
        first -= 1
    start = row = source.first_row(block[first])
    # A row of a string may look like a comment.
    code_ends = (getattr(node, "end_lineno", None) or 0 for node in ast.walk(source.tree))
    taken = max((end for end in code_ends if end <= start), default=0)
    while row > taken and _OWN_COMMENT.match(source.row(row - 1)) and source.indent(row - 1) == source.indent(start):
        row -= 1
    if row == 0 and start:
        row = start  # comments at the top belong to the file
    parted = first > 0 or (block is source.tree.body and row > 0)
    return InsertionGap(row, row, max(0, apart - source.blank_rows(row - 1, -1)) if parted else 0, apart)


def _insert(source: PythonSource, room: InsertionGap, text: str, ending: str) -> EditResult:
    before = source.rows(0, room.first)
    unfinished = bool(before) and not before.endswith(("\n", "\r"))
    above = ending * (room.above + unfinished)
    new = above + text.replace("\n", ending) + ending * (1 + room.below)
    edited = splice(source, source.row_starts[room.first], source.row_starts[room.end], new)
    first = source.line_number(source.row_starts[room.first]) + above.count("\n")
    return EditResult(data=edited.data, first_line=first, last_line=first + text.count("\n"))


def _check_name(home: ScopeNode, tree: ast.Module, leaf: str) -> None:
    """New code must define its name and not hide a definition, unless both are parts of an overload or property."""
    made, there = definitions_by_name(tree), definitions_by_name(home).get(leaf, [])
    if leaf not in made:
        names = ", ".join(f"'{name}'" for name in list(made)[:5]) or "no function or class"
        raise BadInput(f"the new code must define '{leaf}'; it defines {names}")
    bare = [each for each in (*there, *made[leaf]) if not getattr(each.node, "decorator_list", ())]
    if there and len(bare) > 1:
        raise BadInput(f"'{leaf}' is already defined there; py_update_definition changes it")
