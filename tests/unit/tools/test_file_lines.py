"""Looking at and changing some lines, as a caller does."""

import difflib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.tool_caller import ToolCaller
from marid.tools.file_lines import file_edit, file_head, file_tail, get_file_slice, set_file_slice


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    return ToolCaller(tmp_path)


SOURCE = Path(str(difflib.__file__)).read_bytes()
LINES = SOURCE.decode().split("\n")


@pytest.mark.parametrize(("start", "end"), [(1, 1), (10, 20), (2_000, 2_100), (len(LINES) - 3, 2**40)])
def test_a_slice_of_a_real_file_is_its_lines(hands: ToolCaller, start: int, end: int) -> None:
    (hands.root / "a.py").write_bytes(SOURCE)
    total = len(LINES) - 1
    outcome = hands.output(get_file_slice, path="a.py", start_line=start, end_line=end)
    assert outcome.text == "".join(line + "\n" for line in LINES[start - 1 : min(end, total)])
    assert outcome.values == {"start_line": start, "end_line": min(end, total), "total_lines": total}


@pytest.mark.parametrize(("start", "end"), [(0, 1), (-1, 2), (3, 2), (99, 100), (2**63, 2**63), (1.5, 2), ("x", 2)])
def test_lines_that_cannot_be_are_refused(hands: ToolCaller, start: object, end: object) -> None:
    (hands.root / "a").write_text("a\nb\nc\n")
    assert hands.failure(get_file_slice, path="a", start_line=start, end_line=end).code == "bad_input"
    failure = hands.failure(set_file_slice, path="a", start_line=start, end_line=end, new_content="x")
    assert failure.code == "bad_input"
    assert (hands.root / "a").read_text() == "a\nb\nc\n"


def test_head_and_tail_are_the_first_and_the_last_lines(hands: ToolCaller) -> None:
    (hands.root / "a.py").write_bytes(SOURCE)
    assert hands.text(file_head, path="a.py") == "".join(line + "\n" for line in LINES[:50])
    assert hands.text(file_tail, path="a.py", lines=3) == "\n".join(LINES[-4:])
    assert hands.failure(file_head, path="a.py", lines=0).code == "bad_input"
    assert hands.failure(file_tail, path="a.py", lines=-1).code == "bad_input"


def test_some_lines_of_a_huge_file_are_read(hands: ToolCaller) -> None:
    with (hands.root / "huge").open("wb") as file:
        file.write(b"".join(b"line %d\n" % number for number in range(1, 3_000)))
        file.truncate(1 << 40)
        file.seek((1 << 40) - 4)
        file.write(b"\nend")
    assert hands.text(file_head, path="huge", lines=2) == "line 1\nline 2\n"
    assert hands.text(get_file_slice, path="huge", start_line=2_500, end_line=2_500) == "line 2500\n"
    assert hands.text(file_tail, path="huge", lines=1) == "end"


def test_what_is_no_text_file_is_refused(hands: ToolCaller) -> None:
    (hands.root / "folder").mkdir()
    (hands.root / "image").write_bytes(b"\x89PNG\0\0")
    (hands.root / "near.py").touch()
    os.mkfifo(hands.root / "pipe")
    for name in ("folder", "image", "pipe"):
        assert hands.failure(file_head, path=name).code == "bad_input"
        assert hands.failure(set_file_slice, path=name, start_line=1, end_line=1, new_content="").code == "bad_input"
    assert "similar: near.py" in hands.failure(file_tail, path="naer.py").message


@pytest.mark.parametrize(
    ("before", "span", "new", "after"),
    [
        (b"a\nb\nc\n", (2, 2), "x", b"a\nx\nc\n"),
        (b"a\nb\nc", (3, 3), "x", b"a\nb\nx"),
        (b"a\nb\nc", (1, 1), "x", b"x\nb\nc"),
        (b"a\nb\nc\n", (2, 3), "", b"a\n"),
        (b"a\r\nb\r\n", (1, 1), "x\ny", b"x\r\ny\r\nb\r\n"),
        (b"\xef\xbb\xbfa\nb\n", (1, 1), "x", b"\xef\xbb\xbfx\nb\n"),
        ("a\nb\n".encode("utf-16"), (2, 2), "é", "a\né\n".encode("utf-16")),
        (b"\xe9\nb\n", (2, 2), "\xe8", b"\xe9\n\xe8\n"),
        ("a\u2028b\nc".encode(), (1, 1), "x", b"x\nc"),
        (b"a\nb\nc\n", (2, 99), "x", b"a\nx\n"),
    ],
)
def test_lines_are_replaced_and_all_else_keeps_its_bytes(
    hands: ToolCaller, before: bytes, span: tuple[int, int], new: str, after: bytes
) -> None:
    (hands.root / "a").write_bytes(before)
    hands.text(set_file_slice, path="a", start_line=span[0], end_line=span[1], new_content=new)
    assert (hands.root / "a").read_bytes() == after


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_putting_a_slice_of_a_real_file_back_changes_nothing(hands: ToolCaller, data: st.DataObject) -> None:
    (hands.root / "a.py").write_bytes(SOURCE)
    start = data.draw(st.integers(1, len(LINES) - 1))
    end = data.draw(st.integers(start, start + 30))
    text = hands.text(get_file_slice, path="a.py", start_line=start, end_line=end)
    failure = hands.failure(set_file_slice, path="a.py", start_line=start, end_line=end, new_content=text)
    assert "nothing would change" in failure.message
    hands.text(set_file_slice, path="a.py", start_line=start, end_line=end, new_content="x\ny")
    kept = [*LINES[: start - 1], "x", "y", *LINES[min(end, len(LINES) - 1) :]]
    assert (hands.root / "a.py").read_bytes() == "\n".join(kept).encode()


@pytest.mark.parametrize(
    ("args", "after", "said"),
    [
        (
            {"operation": "replace_lines", "line_start": 2, "line_end": 3, "content": "x"},
            "a\nx\n",
            "Replaced lines 2-3",
        ),
        ({"operation": "replace_lines", "line_start": 3, "content": "x\ny"}, "a\nb\nx\ny\n", "Replaced line 3"),
        ({"operation": "insert_before", "line_start": 1, "content": "x"}, "x\na\nb\nc\n", "Inserted before line 1"),
        ({"operation": "insert_after", "line_start": 3, "content": "x"}, "a\nb\nc\nx\n", "Inserted after line 3"),
        ({"operation": "delete_lines", "line_start": 1, "line_end": 2}, "c\n", "Deleted lines 1-2"),
        ({"operation": "replace_string", "find": "b", "replace": ""}, "a\n\nc", "Replaced line 2"),
    ],
)
def test_every_operation_does_what_it_says(hands: ToolCaller, args: dict[str, object], after: str, said: str) -> None:
    (hands.root / "a").write_text("a\nb\nc")
    assert hands.text(file_edit, path="a", **args).startswith(f"{said} of a, which has ")
    assert (hands.root / "a").read_text() == after


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"operation": "replace_lines", "line_start": 1}, "replace_lines needs content"),
        ({"operation": "insert_after", "content": "x"}, "insert_after needs line_start"),
        ({"operation": "delete_lines", "line_start": 4}, "line_start 4 is beyond the end"),
        ({"operation": "delete_lines", "line_start": 1, "line_end": 4}, "line_end 4 is beyond the end"),
        ({"operation": "delete_lines", "line_start": 0}, "counted from 1"),
        ({"operation": "delete_lines", "line_start": 2, "line_end": 1}, "is before"),
        ({"operation": "replace_string", "find": "b"}, "needs replace"),
        ({"operation": "replace_string", "find": "", "replace": "x"}, "to find is empty"),
        ({"operation": "replace_string", "find": "z", "replace": "x"}, "not in the file"),
        ({"operation": "replace_string", "find": "b", "replace": "b"}, "nothing would change"),
        ({"operation": "erase"}, "operation"),
    ],
)
def test_an_operation_that_lacks_something_is_refused(hands: ToolCaller, args: dict[str, object], words: str) -> None:
    (hands.root / "a").write_text("a\nb\nc\n")
    failure = hands.failure(file_edit, path="a", **args)
    assert failure.code == "bad_input"
    assert words in failure.message
