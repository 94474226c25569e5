"""New definitions in a Python file, and definitions that go from one place to another."""

import ast
import re
from dataclasses import dataclass

from marid.core.errors import BadInput
from marid.syntax.python_anchor import Anchor
from marid.syntax.python_edits import Edited, spliced, without
from marid.syntax.python_header import name_span
from marid.syntax.python_indent import code, fitted, style
from marid.syntax.python_names import DEFINITIONS, Scope, blocks, definition, definitions, scope, span, split
from marid.syntax.python_places import Room, Spot, anchored, gap, room_after, room_at_end, room_before, top
from marid.syntax.python_source import Source, most_used_ending, parsed, read

_JOINT = re.compile(r"\\(?:\r\n|\n|\r)\Z")


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A definition on its way: its text, under the name it will have, and the file that it leaves behind."""

    text: str
    rest: Edited
    line: int
    """The line of the file that it began on."""


def add_definition(data: bytes, name: str, content: str, anchor: Anchor) -> Edited:
    """Put new code that defines `name` in the scope the name says. Raises: BadInput, NotFound, Exhausted."""
    source = read(data)
    tree = parsed(source)
    (*path, leaf), line = split(name)
    if line is not None:
        raise BadInput(f"'{name}' must be the name that the definition will have, without a line")
    home = scope(source, tree, path)
    spot = _spot(source, tree, home, path, anchor)
    opened = _opened(source, tree, spot)
    if opened is not None:
        return add_definition(source.encoded(opened), name, content, anchor)
    base = "" if spot.block is tree.body else source.indent(span(source, spot.block[0])[0])
    used = style(source, tree)
    made = code(content, base, used)
    _check_name(home, made.tree, leaf)
    ending = most_used_ending(source.text) or most_used_ending(content) or "\n"
    return _put(source, _room(source, tree, spot, anchor), fitted(made, base, used), ending)


def take_definition(data: bytes, name: str, leaf: str) -> Taken:
    """Take a function or class out, to be put elsewhere as `leaf`. Raises: BadInput, NotFound, Exhausted."""
    source = read(data)
    tree = parsed(source)
    found = definition(source, tree, name)
    first, end = (source.starts[row] for row in span(source, found.node))
    text = source.text[first:end]
    if isinstance(found.node, DEFINITIONS) and found.node.name != leaf:
        start, stop = name_span(source, found.node)
        text = source.text[first:start] + leaf + source.text[stop:end]
    return Taken(text=text, rest=without(source, tree, found), line=source.line(first))


def move_definition(data: bytes, name: str, dest_name: str, anchor: Anchor) -> Edited:
    """Take a function or class to another place of the same file. Raises: BadInput, NotFound, Exhausted."""
    path, (*home, leaf) = split(name)[0], split(dest_name)[0]
    if home[: len(path)] == path:
        raise BadInput(f"'{name}' cannot be moved into itself")
    taken = take_definition(data, name, leaf)
    gone = data.count(b"\n") - taken.rest.data.count(b"\n")
    symbol, _, line = anchor.symbol.rpartition("@")
    if symbol and line.isdecimal() and int(line) > taken.line:
        anchor = Anchor(kind=anchor.kind, symbol=f"{symbol}@{int(line) - gone}")
    return add_definition(taken.rest.data, dest_name, taken.text, anchor)


def _spot(source: Source, tree: ast.Module, home: Scope, path: list[str], anchor: Anchor) -> Spot:
    if anchor.kind in ("before", "after"):
        return anchored(source, tree, home, path, anchor.symbol)
    at = top(home) if anchor.kind == "top" else len(home.body)
    return Spot(block=home.body, first=at, end=len(home.body))


def _opened(source: Source, tree: ast.Module, spot: Spot) -> str | None:
    """The text with a block that stood behind its colon on rows of its own; None if it stands so already."""
    first = spot.block[0] if spot.block else None
    if spot.block is tree.body or first is None or isinstance(first, DEFINITIONS):
        return None
    start = source.offset(first.lineno, first.col_offset)
    at = _before_joined(source.text, start)
    if not source.text.endswith(":", 0, at):
        return None
    holder = next(node for node in ast.walk(tree) if any(block is spot.block for block in blocks(node)))
    used = style(source, tree)
    indent = source.indent(getattr(holder, "lineno", 1) - 1) + (used.unit if used else "    ")
    return source.text[:at] + source.ending + indent + source.text[start:]


def _before_joined(text: str, at: int) -> int:
    """Back over white space on the same line, and over line ends that a backslash undoes."""
    while (joint := _JOINT.search(text, max(at - 3, 0), at)) or text[at - 1] in " \t\f":
        at = joint.start() if joint else at - 1
    return at


def _room(source: Source, tree: ast.Module, spot: Spot, anchor: Anchor) -> Room:
    block, outermost = spot.block, spot.block is tree.body
    if not outermost and len(block) == 1 and source.row(block[0].lineno - 1).strip() == "pass":
        return Room(first=block[0].lineno - 1, end=block[0].lineno, above=0, below=0)
    apart = gap(source, block, outermost=outermost)
    if anchor.kind in ("top", "before") and spot.first < len(block):
        return room_before(source, tree, spot, apart)
    if outermost and anchor.kind != "after":
        return room_at_end(source, apart)
    return room_after(source, Spot(block=block, first=min(spot.first, len(block) - 1), end=spot.end), apart)


def _put(source: Source, room: Room, text: str, ending: str) -> Edited:
    before = source.rows(0, room.first)
    unfinished = bool(before) and not before.endswith(("\n", "\r"))
    above = ending * (room.above + unfinished)
    new = above + text.replace("\n", ending) + ending * (1 + room.below)
    edited = spliced(source, source.starts[room.first], source.starts[room.end], new)
    first = source.line(source.starts[room.first]) + above.count("\n")
    return Edited(data=edited.data, first=first, last=first + text.count("\n"))


def _check_name(home: Scope, tree: ast.AST, leaf: str) -> None:
    """New code must define what it says and not hide what is there; the parts of an overload or property may."""
    made, there = definitions(tree), definitions(home).get(leaf, [])
    if leaf not in made:
        names = ", ".join(f"'{name}'" for name in list(made)[:5]) or "no function or class"
        raise BadInput(f"the new code must define '{leaf}'; it defines {names}")
    bare = [one for one in (*there, *made[leaf]) if not getattr(one.node, "decorator_list", ())]
    if there and len(bare) > 1:
        raise BadInput(f"'{leaf}' is already defined there; py_update_definition changes it")
