"""Properties of edits of any Python file, tested on the standard library."""

import ast
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from marid.core.errors import BadInput, MaridError
from marid.syntax.python.edit.additions import InsertionAnchor, add_definition, extract_definition, move_definition
from marid.syntax.python.edit.edits import (
    find_declaration,
    find_definition,
    find_signature,
    remove_definition,
    set_declaration,
    set_signature,
    update_definition,
    wrap_region,
)
from marid.syntax.python.edit.name_lookup import definitions_by_name, variables_by_name
from marid.syntax.python.scopes import BlockStatement, all_definitions
from marid.syntax.python.source import DEFINITION_NODES, read_source

FEW, MANY = 25, 300
SMALL, LARGE = 25_000, 100_000


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A file and what it defines: every dotted name that only one thing has, with that thing."""

    data: bytes
    tree: ast.Module
    defined: dict[str, BlockStatement]
    declared: dict[str, BlockStatement]


@cache
def files(largest: int) -> list[Path]:
    root = Path(sysconfig.get_paths()["stdlib"])
    found = sorted(path for path in root.rglob("*.py") if "site-packages" not in path.parts)
    return [path for path in found if 0 < path.stat().st_size <= largest]


@cache
def sample(path: Path) -> Sample | None:
    data = path.read_bytes()
    try:
        tree = read_source(data).tree
    except BadInput:
        return None
    defined: dict[str, list[BlockStatement]] = {}
    declared: dict[str, list[BlockStatement]] = {}
    for prefix, scope in [("", tree), *((f"{name}.", node) for name, node in all_definitions(tree.body))]:
        if isinstance(scope, ast.Module | ast.ClassDef):
            for name, found in variables_by_name(scope).items():
                declared.setdefault(prefix + name, []).extend(found)
        for name, found in definitions_by_name(scope).items():
            defined.setdefault(prefix + name, []).extend(found)
    return Sample(
        data=data,
        tree=tree,
        defined={name: found[0] for name, found in defined.items() if len(found) == 1},
        declared={name: found[0] for name, found in declared.items() if len(found) == 1},
    )


@st.composite
def samples(draw: st.DrawFn, largest: int = SMALL) -> Sample:
    found = sample(draw(st.sampled_from(files(largest))))
    assume(found is not None and found.defined)
    assert found is not None
    return found


def same(one: bytes, other: bytes) -> bool:
    return shape(one) == shape(other)


def shape(data: bytes) -> str:
    """The tree without positions; docstrings as `help` shows them, since their indentation may move."""
    tree = read_source(data).tree
    for node in ast.walk(tree):
        if isinstance(node, DEFINITION_NODES) and isinstance(node.body[0], ast.Expr):
            value = node.body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                value.value = cleandoc(value.value)
    return ast.dump(tree)


def update_is_the_identity(file: Sample, draw: st.DataObject) -> None:
    name = draw.draw(st.sampled_from(sorted(file.defined)))
    text = find_definition(file.data, name).text
    assert update_definition(file.data, name, text).data == file.data
    assert set_signature(file.data, name, find_signature(file.data, name).text).data == file.data
    # However it is laid out, it means the same; and nothing around it changes.
    assert same(update_definition(file.data, name, text.strip()).data, file.data)
    noted = update_definition(file.data, name, f"{text.rstrip()}\n# note").data
    assert same(noted, file.data)
    found, lines = find_definition(file.data, name), file.data.split(b"\n")
    assert noted.startswith(b"\n".join(lines[: found.first_line - 1]))
    assert noted.endswith(b"\n".join(lines[found.last_line :]))


def removed_and_added_is_the_same(file: Sample, draw: st.DataObject) -> None:
    name = draw.draw(st.sampled_from(sorted(file.defined)))
    found = file.defined[name]
    anchors = neighbours(file, name, found)
    assume(anchors)
    anchor = draw.draw(st.sampled_from(anchors))
    text = find_definition(file.data, name).text
    removed = remove_definition(file.data, name).data
    assert read_source(removed).tree
    again = add_definition(removed, name, text, anchor).data
    assert ast.dump(read_source(again).tree) == ast.dump(file.tree)


def neighbours(file: Sample, name: str, found: BlockStatement) -> list[InsertionAnchor]:
    """The definitions next to one in its block that can be named."""
    prefix, dot, _ = name.rpartition(".")
    sides = {"after": found.position - 1, "before": found.position + 1}
    anchors: list[InsertionAnchor] = []
    for kind in ("after", "before"):
        at = sides[kind]
        node = found.block[at] if 0 <= at < len(found.block) else None
        if isinstance(node, DEFINITION_NODES) and f"{prefix}{dot}{node.name}" in file.defined:
            anchors.append(InsertionAnchor(kind=kind, symbol=node.name))
    return anchors


def a_move_keeps_both_parsing(file: Sample, other: Sample, draw: st.DataObject) -> None:
    name = draw.draw(st.sampled_from(sorted(file.defined)))
    anchor = draw.draw(st.sampled_from([InsertionAnchor(kind="top"), InsertionAnchor(kind="bottom")]))
    dest = destination(draw, other)
    taken = extract_definition(file.data, name, "moved_here")
    assert read_source(taken.rest.data).tree
    try:
        added = add_definition(other.data, dest, taken.text, anchor).data
    except BadInput as error:
        if "cannot encode" in str(error):  # letters that the other file's encoding lacks
            return
        raise
    assert same(extract_definition(added, dest, "moved_here").rest.data, other.data)
    there = find_definition(added, dest).text
    assert same(alone(there), alone(taken.text))


def destination(draw: st.DataObject, file: Sample, outside: str = "") -> str:
    homes = [name for name in sorted(file.defined) if not outside or not f"{name}.".startswith(f"{outside}.")]
    home = draw.draw(st.sampled_from(["", *homes]))
    return f"{home}.moved_here" if home else "moved_here"


def alone(text: str) -> bytes:
    return add_definition(b"", "moved_here", text, InsertionAnchor(kind="top")).data


def a_move_inside_a_file_loses_nothing(file: Sample, draw: st.DataObject) -> None:
    name = draw.draw(st.sampled_from(sorted(file.defined)))
    dest = destination(draw, file, name)
    moved = move_definition(file.data, name, dest, InsertionAnchor(kind="bottom")).data
    taken = extract_definition(file.data, name, "moved_here")
    assert same(extract_definition(moved, dest, "moved_here").rest.data, taken.rest.data)
    assert same(alone(find_definition(moved, dest).text), alone(taken.text))


def declarations_are_kept(file: Sample, draw: st.DataObject) -> None:
    assume(file.declared)
    name = draw.draw(st.sampled_from(sorted(file.declared)))
    text = find_declaration(file.data, name).text
    assert set_declaration(file.data, name, text).data == file.data


def a_region_changes_no_meaning(file: Sample, draw: st.DataObject) -> None:
    count = file.data.count(b"\n")
    first = draw.draw(st.integers(1, max(count, 1)))
    last = draw.draw(st.integers(first, max(count, first)))
    try:
        wrapped = wrap_region(file.data, first, last, "R").data
    except MaridError:
        return
    assert ast.dump(read_source(wrapped).tree) == ast.dump(file.tree)
    assert len(wrapped) > len(file.data)


SINGLE_FILE = (
    update_is_the_identity,
    removed_and_added_is_the_same,
    a_move_inside_a_file_loses_nothing,
    declarations_are_kept,
    a_region_changes_no_meaning,
)


@pytest.mark.parametrize("property_holds", SINGLE_FILE)
@given(file=samples(), data=st.data())
@settings(max_examples=FEW)
def test_edits_of_one_file(
    property_holds: Callable[[Sample, st.DataObject], None], file: Sample, data: st.DataObject
) -> None:
    property_holds(file, data)


@given(samples(), samples(), st.data())
@settings(max_examples=FEW)
def test_a_move_keeps_both_files_parsing(file: Sample, other: Sample, data: st.DataObject) -> None:
    a_move_keeps_both_parsing(file, other, data)


@pytest.mark.soak
@given(samples(LARGE), samples(LARGE), st.data())
@settings(max_examples=MANY)
def test_all_of_it_holds_for_many_and_larger_files(file: Sample, other: Sample, data: st.DataObject) -> None:
    a_move_keeps_both_parsing(file, other, data)
    for property_holds in SINGLE_FILE:
        property_holds(file, data)
