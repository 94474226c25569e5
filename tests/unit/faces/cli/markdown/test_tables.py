"""Rows, columns and their borders."""

import pytest

from marid.faces.cli.markdown.style import Style
from marid.faces.cli.markdown.tables import alignments, split_row, table_lines


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ("| a | b |", ["a", "b"]),
        ("|a|b", ["a", "b"]),
        ("|a||b|", ["a", "", "b"]),
        (r"|a \| b|c|", ["a | b", "c"]),
        ("|a\\|", ["a|"]),
        ("|a\\", ["a\\"]),
        ("|", []),
    ],
)
def test_a_row_is_split_at_its_bars(row: str, parts: list[str]) -> None:
    assert split_row(row) == parts


def test_the_second_line_aligns_the_columns() -> None:
    assert alignments("|a|b|c|d|", "|-|:-|:-:|--:|") == ["<", "<", "^", ">"]


@pytest.mark.parametrize(
    ("header", "row"), [("|a|", "|b|"), ("|a|b|", "|-|"), ("|a|", "|:|"), ("|", "|"), ("|a|", "|-:-|")]
)
def test_other_lines_make_no_table(header: str, row: str) -> None:
    assert alignments(header, row) is None


def drawn(*rows: str, room: int = 40) -> list[str] | None:
    lines = table_lines(list(rows), room, Style())
    return None if lines is None else ["".join(text for text, _ in line) for line in lines]


def test_cells_are_set_in_columns_of_their_width() -> None:
    assert drawn("|name|中|x|", "|-|:-:|-:|", "|**a**|`b c d`|10|", "|e|", "|f|g|h|i|") == [
        "┌──────┬───────┬────┬───┐",
        "│ name │  中   │  x │   │",
        "├──────┼───────┼────┼───┤",
        "│ a    │ b c d │ 10 │   │",
        "│ e    │       │    │   │",
        "│ f    │   g   │  h │ i │",
        "└──────┴───────┴────┴───┘",
    ]


def test_a_table_wider_than_the_room_is_none() -> None:
    assert drawn("|abcdefgh|", "|-|", room=11) is None
    assert drawn("|abcdefgh|", "|-|", room=12) is not None
    assert drawn("|a|", "|-|", "|" * 100_000, *["|b|"] * 1000) is None


def test_the_header_has_its_own_ground() -> None:
    lines = table_lines(["|*a*|", "|-|"], 40, Style(table_header_bg="blue", table_border="red"))
    assert lines
    assert lines[1] == [("│", "31"), (" ", "97;44;1"), ("a", "97;44;1;3"), (" ", "97;44;1"), ("│", "31")]
