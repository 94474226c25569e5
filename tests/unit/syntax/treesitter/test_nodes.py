"""Reading nodes must neither raise nor crash."""

import re
from pathlib import Path

from tree_sitter import Node

import marid.syntax
from marid.syntax.treesitter.grammars import parse
from marid.syntax.treesitter.nodes import (
    apply_cuts,
    child_at,
    field_text,
    first_row,
    last_row,
    line_start,
    named_child_at,
    node_text,
)

CODE = b"def f(\xc3\xa9):\n    pass\n"


def root(data: bytes = CODE, language: str = "python") -> Node:
    node = parse(data, language)
    assert node is not None
    return node


def test_text_is_that_of_the_node_and_empty_without_one() -> None:
    function = root().children[0]
    assert field_text(function, "name", CODE) == "f"
    assert field_text(function, "nothing", CODE) == ""
    assert node_text(function.child_by_field_name("parameters"), CODE) == "(é)"
    assert node_text(None, CODE) == ""


def test_bytes_that_are_not_text_are_replaced() -> None:
    data = b"x = '\xff'\n"
    assert node_text(root(data), data) == "x = '\ufffd'\n"


def test_rows_are_those_of_the_first_and_last_character() -> None:
    function = root(b"\n\n" + CODE).children[0]
    assert (first_row(function), last_row(function)) == (2, 3)


def test_a_node_that_ends_at_the_start_of_the_next_line_does_not_reach_into_it() -> None:
    define = root(b"#define A 1\n#define B 2\n", "c").children[0]
    assert define.end_point == (1, 0)
    assert last_row(define) == 0


def test_children_out_of_range_are_none() -> None:
    function = root().children[0]
    assert child_at(function, 0) is not None
    assert child_at(function, 99) is None
    assert child_at(function, -1) is None
    assert named_child_at(function) is not None
    assert named_child_at(function, 99) is None
    leaf = child_at(function, 0)
    assert leaf is not None
    assert child_at(leaf, 0) is None


def test_rows_and_columns_of_points_are_never_asked_for_by_name() -> None:
    folder = Path(marid.syntax.__file__).parent
    for module in folder.rglob("*.py"):
        assert not re.search(r"_point\.(row|column)", module.read_text()), module.name


def test_a_line_is_whole_if_only_white_space_is_before() -> None:
    assert line_start(b"a;\n  b;", 5) == 3
    assert line_start(b"a; b;", 3) == 3
    assert line_start(b"\tb;", 1) == 0


def test_a_cut_inside_another_is_ignored() -> None:
    assert apply_cuts(b"abcdef", [(1, 4, b"-"), (2, 3, b"x"), (5, 6, b"\xff")]) == "a-e\ufffd"
