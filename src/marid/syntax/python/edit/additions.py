"""Add definitions to a Python file, and move them."""

import ast
import re
from dataclasses import dataclass

from marid.core.errors import BadInput
from marid.syntax.python.edit.anchor import InsertionAnchor
from marid.syntax.python.edit.definition_text import name_span
from marid.syntax.python.edit.edits import EditResult, remove_statement, splice
from marid.syntax.python.edit.indentation import detect_style, parse_code, reindent
from marid.syntax.python.edit.insertion_points import (
    InsertionGap,
    StatementRange,
    find_anchor,
    gap_after,
    gap_at_end,
    gap_before,
    top_index,
    usual_blank_lines,
)
from marid.syntax.python.edit.name_lookup import (
    ScopeNode,
    blocks,
    definitions,
    locate_definition,
    locate_scope,
    split_name,
)
from marid.syntax.python.source import DEFINITION_NODES, PythonSource, commonest_line_ending, read_source

_JOINT = re.compile(r"\\(?:\r\n|\n|\r)\Z")


@dataclass(frozen=True, kw_only=True)
class ExtractedDefinition:
    """A definition to be moved: its text under its new name, its first line, and the file without it."""

    text: str
    rest: EditResult
    first_line: int


def add_definition(data: bytes, name: str, content: str, anchor: InsertionAnchor) -> EditResult:
    """Insert code that defines the dotted `name` in its scope. Raises: BadInput, NotFound, Exhausted."""
    source = read_source(data)
    (*path, leaf), line = split_name(name)
    if line:
        raise BadInput(f"'{name}' must be the name of the new definition, without a line")
    home = locate_scope(source, path)
    spot = _find_position(source, home, path, anchor)
    opened = _expand_inline_block(source, spot)
    if opened is not None:
        return add_definition(source.encode(opened), name, content, anchor)
    base = "" if spot.block is source.tree.body else source.indent(source.row_span(spot.block[0])[0])
    used = detect_style(source, source.tree)
    made = parse_code(content, base, used)
    _check_name(home, made.tree, leaf)
    ending = commonest_line_ending(source.text) or commonest_line_ending(content) or "\n"
    return _insert(source, _find_gap(source, spot, anchor), reindent(made, base, used), ending)


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


def _find_position(source: PythonSource, home: ScopeNode, path: list[str], anchor: InsertionAnchor) -> StatementRange:
    if anchor.kind in ("before", "after"):
        return find_anchor(source, home, path, anchor.symbol)
    at = top_index(home) if anchor.kind == "top" else len(home.body)
    return StatementRange(block=home.body, first=at, end=len(home.body))


def _expand_inline_block(source: PythonSource, spot: StatementRange) -> str | None:
    """The text with a block that follows its colon moved to the next row; None if it is on its own rows already."""
    first = spot.block[0] if spot.block else None
    if spot.block is source.tree.body or first is None or isinstance(first, DEFINITION_NODES):
        return None
    start = source.start(first)
    at = _skip_back_space(source.text, start)
    if not source.text.endswith(":", 0, at):
        return None
    holder = next(node for node in ast.walk(source.tree) if any(block is spot.block for block in blocks(node)))
    used = detect_style(source, source.tree)
    indent = source.indent(getattr(holder, "lineno", 1) - 1) + (used.unit if used else "    ")
    return source.text[:at] + source.line_ending + indent + source.text[start:]


def _skip_back_space(text: str, at: int) -> int:
    """Back over white space on the same line and over escaped line endings."""
    while (joint := _JOINT.search(text, max(at - 3, 0), at)) or text[at - 1] in " \t\f":
        at = joint.start() if joint else at - 1
    return at


def _find_gap(source: PythonSource, spot: StatementRange, anchor: InsertionAnchor) -> InsertionGap:
    block, outermost = spot.block, spot.block is source.tree.body
    if not outermost and len(block) == 1 and source.row(block[0].lineno - 1).strip() == "pass":
        return InsertionGap(first=block[0].lineno - 1, end=block[0].lineno, above=0, below=0)
    apart = usual_blank_lines(source, block, outermost=outermost)
    if anchor.kind in ("top", "before") and spot.first < len(block):
        return gap_before(source, spot, apart)
    if outermost and anchor.kind != "after":
        return gap_at_end(source, apart)
    return gap_after(source, StatementRange(block=block, first=min(spot.first, len(block) - 1), end=spot.end), apart)


def _insert(source: PythonSource, room: InsertionGap, text: str, ending: str) -> EditResult:
    before = source.rows(0, room.first)
    unfinished = bool(before) and not before.endswith(("\n", "\r"))
    above = ending * (room.above + unfinished)
    new = above + text.replace("\n", ending) + ending * (1 + room.below)
    edited = splice(source, source.row_starts[room.first], source.row_starts[room.end], new)
    first = source.line_number(source.row_starts[room.first]) + above.count("\n")
    return EditResult(data=edited.data, first_line=first, last_line=first + text.count("\n"))


def _check_name(home: ScopeNode, tree: ast.AST, leaf: str) -> None:
    """New code must define its name and not hide a definition, unless both are parts of an overload or property."""
    made, there = definitions(tree), definitions(home).get(leaf, [])
    if leaf not in made:
        names = ", ".join(f"'{name}'" for name in list(made)[:5]) or "no function or class"
        raise BadInput(f"the new code must define '{leaf}'; it defines {names}")
    bare = [one for one in (*there, *made[leaf]) if not getattr(one.node, "decorator_list", ())]
    if there and len(bare) > 1:
        raise BadInput(f"'{leaf}' is already defined there; py_update_definition changes it")
