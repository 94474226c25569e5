"""Line surgery against a model that is a list of lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.edit.text_edits import (
    check_start_line,
    insert_lines,
    replace_lines,
    split_lines,
    usual_line_ending,
)

# What other programs take for line ends, and must stay inside a line here.
LINE = st.text(st.sampled_from("ab \t\r\x0b\x0c\x85\u2028\u2029é"), max_size=4).map(lambda line: line.rstrip("\r"))
LINES = st.lists(LINE, max_size=6)


@given(LINES, st.booleans())
def test_lines_end_at_line_feeds_only(lines: list[str], final: bool) -> None:
    text = "\n".join(lines) + ("\n" if final and lines else "")
    assert "".join(split_lines(text)) == text
    assert len(split_lines(text)) == text.count("\n") + (not text.endswith("\n") and text != "")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@given(lines=st.lists(LINE, min_size=1, max_size=6), new=LINES, data=st.data())
def test_replacing_lines_is_replacing_items_of_a_list(
    ending: str, lines: list[str], new: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(1, len(lines)))
    end = data.draw(st.integers(start, len(lines) + 2))
    text = "".join(line + ending for line in lines)
    given_text = "\n".join(new)
    expected = lines[: start - 1] + (new if given_text else []) + lines[end:]
    # Lines that are all empty end where the last of them begins, as a text that is given without its last line end.
    if given_text.endswith("\n"):
        expected = lines[: start - 1] + new[:-1] + lines[end:]
    assert replace_lines(text, start, end, given_text) == "".join(line + ending for line in expected)


@given(st.lists(LINE, min_size=1, max_size=6), st.booleans(), st.data())
def test_putting_a_slice_back_changes_nothing(lines: list[str], final: bool, data: st.DataObject) -> None:
    text = "\n".join(lines) + ("\n" if final else "")
    have = split_lines(text)
    if not have:
        return
    start = data.draw(st.integers(1, len(have)))
    end = data.draw(st.integers(start, len(have)))
    assert replace_lines(text, start, end, "".join(have[start - 1 : end])) == text


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@given(lines=LINES, new=st.lists(LINE.filter(bool), min_size=1, max_size=4), data=st.data())
def test_inserting_lines_is_inserting_items(ending: str, lines: list[str], new: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(lines) + 1))
    text = "".join(line + ending for line in lines)
    expected = lines[: at - 1] + new + lines[at - 1 :]
    kept = ending if lines else "\n"
    assert insert_lines(text, at, "\n".join(new)) == "".join(line + kept for line in expected)


@pytest.mark.parametrize(("text", "ending"), [("", "\n"), ("a", "\n"), ("a\r\nb\n", "\n"), ("a\r\nb\r\nc\n", "\r\n")])
def test_the_ending_is_that_of_most_lines(text: str, ending: str) -> None:
    assert usual_line_ending(text) == ending


@pytest.mark.parametrize(("text", "words"), [("", "is empty"), ("a", "has 1 line$"), ("a\nb\n", "has 2 lines$")])
def test_a_start_beyond_the_end_says_how_many_lines_there_are(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        replace_lines(text, 2**63, 2**63, "x")
    with pytest.raises(BadInput, match=words):
        insert_lines(text, 9, "x")
    check_start_line(1, 1)
