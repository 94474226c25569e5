"""Reading nodes must neither raise nor crash."""

import re
from pathlib import Path

from tree_sitter import Node

import marid.syntax
from marid.syntax.treesitter.grammars import parse
from marid.syntax.treesitter.nodes import cut_pieces, last_row

CODE = b"def f(\xc3\xa9):\n    pass\n"


def root(data: bytes = CODE, language: str = "python") -> Node:
    node = parse(data, language)
    assert node is not None
    return node


def test_a_node_that_ends_at_the_start_of_the_next_line_does_not_reach_into_it() -> None:
    define = root(b"#define A 1\n#define B 2\n", "c").children[0]
    assert define.end_point == (1, 0)
    assert last_row(define) == 0


def test_rows_and_columns_of_points_are_never_asked_for_by_name() -> None:
    folder = Path(marid.syntax.__file__).parent
    for module in folder.rglob("*.py"):
        assert not re.search(r"_point\.(row|column)", module.read_text()), module.name


def test_a_cut_inside_another_is_ignored() -> None:
    assert "".join(cut_pieces("abcdef", [(1, 4, "-"), (2, 3, "x"), (5, 6, "+")])) == "a-e+"
