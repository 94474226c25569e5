"""Slices are found again."""

from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.toolkit.outcome import ToolOutput
from marid.tools import slice_anchors

CODE = Path(__file__).parents[2] / "golden" / "cpp" / "table.c"


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    (tmp_path / "table.c").write_bytes(CODE.read_bytes())
    return ToolCaller(tmp_path)


def made(hands: ToolCaller, start: int, end: int) -> ToolOutput:
    return hands.output(slice_anchors.create_anchor, path="table.c", start_line=start, end_line=end)


def test_lines_are_found_after_the_file_has_changed_around_them(hands: ToolCaller) -> None:
    text = made(hands, 71, 85).text
    old = (hands.root / "table.c").read_text("utf-8")
    (hands.root / "table.c").write_text(
        "// new\n// more\n" + old.replace("calloc(1, sizeof *table)", "make()"), "utf-8"
    )
    found = hands.output(slice_anchors.resolve_anchor, path="table.c", anchor=text)
    assert found.values == {"start_line": 73, "end_line": 87}
    first, _, rest = found.text.partition("\n")
    assert first == "Lines 73-87:"
    assert rest.startswith("table_t *table_new(table_hash hash)\n")
    assert rest.endswith("    return table;\n}")


def test_an_anchor_may_be_given_as_an_object(hands: ToolCaller) -> None:
    anchor = made(hands, 71, 85).values["anchor"]
    assert hands.text(slice_anchors.resolve_anchor, path="table.c", anchor=anchor).startswith("Lines 71-85:")


def test_lines_that_are_gone_are_an_error(hands: ToolCaller) -> None:
    text = made(hands, 71, 85).text
    (hands.root / "table.c").write_text("int x;\n")
    told = hands.failure(slice_anchors.resolve_anchor, path="table.c", anchor=text)
    assert told.code == "not_found"
    assert told.message.startswith("table.c: the lines are gone, or match more than one place")


@pytest.mark.parametrize(("start", "end"), [(0, 3), (5, 4), (-1, 2), (1, 10_000), (400, 401)])
def test_lines_that_are_not_there_are_an_error(hands: ToolCaller, start: int, end: int) -> None:
    told = hands.failure(slice_anchors.create_anchor, path="table.c", start_line=start, end_line=end)
    assert told.code == "bad_input"
    assert told.message.startswith("table.c: lines")


@pytest.mark.parametrize("anchor", ["", "{", "[]", "3", "null", "{}", "[" * 200_000, {}, {"start": 1, "end": 2}])
def test_what_is_no_anchor_is_an_error(hands: ToolCaller, anchor: object) -> None:
    assert hands.failure(slice_anchors.resolve_anchor, path="table.c", anchor=anchor).code == "bad_input"


def test_a_binary_file_has_no_lines(hands: ToolCaller) -> None:
    (hands.root / "b").write_bytes(b"\0\1")
    told = hands.failure(slice_anchors.create_anchor, path="b", start_line=1, end_line=1)
    assert (told.code, told.message) == ("bad_input", "b is a binary file: it has no lines")
