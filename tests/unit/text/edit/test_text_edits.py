import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.edit.text_edits import (
    check_start_line,
    insert_lines,
    replace_lines,
    split_lines,
    substitute,
    substitute_first,
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


TEXT = st.text(st.sampled_from("ab\n\r\u2028"), max_size=12)


def replaced(text: str, old: str, new: str, *, every: bool = False) -> str:
    return substitute(text, old, new, every=every).text


def refusal(text: str, old: str, new: str = "new", *, every: bool = False) -> str:
    with pytest.raises(BadInput) as caught:
        substitute(text, old, new, every=every)
    return str(caught.value)


def test_one_or_every_occurrence_is_replaced() -> None:
    assert substitute("one\ntwo\nthree\n", "two", "2", every=False) == ("one\n2\nthree\n", [2])
    assert substitute("a b\na\n", "a", "x", every=True) == ("x b\nx\n", [1, 2])


@given(TEXT.filter(lambda text: "\r" not in text), st.text("ab\n", min_size=1, max_size=3), st.text("xy", max_size=2))
def test_replacing_everything_is_what_strings_do(text: str, old: str, new: str) -> None:
    if old in text:
        assert replaced(text, old, new, every=True) == text.replace(old, new)
    else:
        assert "not in the file" in refusal(text, old, new, every=True)


@given(st.lists(st.text("ab", max_size=3), max_size=6), st.data())
def test_line_ends_of_either_kind_are_found_and_kept(lines: list[str], data: st.DataObject) -> None:
    """Whatever mixture a file has: replaced where the plain text would be, all other bytes as they were."""
    ends = [data.draw(st.sampled_from(["\n", "\r\n"])) for _ in lines]
    text = "".join(line + end for line, end in zip(lines, ends, strict=True))
    plain = text.replace("\r\n", "\n")
    parts = [plain[i:j] for i in range(len(plain)) for j in range(i + 1, len(plain) + 1)]
    old = data.draw(st.sampled_from(parts or ["z"]))
    if sum(plain.startswith(old, at) for at in range(len(plain))) == 1:
        units = [*text.replace("\r\n", "\r")]  # one for each character of the plain text
        at = plain.index(old)
        expected = "".join([*units[:at], "X", *units[at + len(old) :]]).replace("\r", "\r\n")
        assert replaced(text, old, "X") == expected


@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        # A line ending in the old text matches either kind.
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("a\nb\n", "a\r\nb", "x", "x\n"),
        ("a\r\nb\nc\n", "a\nb\nc", "x\ny", "x\ny\n"),
        # New lines get the line endings of the file, unless those of the old text were spelled out.
        ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "x\ny", "x\ny\r\n"),
        # An exact match wins.
        ("a\r\nb\r\na\nb\n", "a\nb", "x", "a\r\nb\r\nx\n"),
    ],
)
def test_line_endings_are_adapted(text: str, old: str, new: str, result: str) -> None:
    assert replaced(text, old, new) == result


def test_very_many_occurrences_take_no_time() -> None:
    assert len(substitute("a\n" * 300_000, "a", "b", every=True).lines) == 300_000


def test_an_empty_unchanged_or_repeated_text_is_refused() -> None:
    assert "old_string is empty" in refusal("a", "")
    assert "nothing would change" in refusal("a", "a", "a")
    assert "nothing would change" in refusal("a\r\nb", "a\nb", "a\r\nb")
    assert "occurs 2 times (lines 1, 3)" in refusal("a\nb\na\n", "a")
    assert "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..." in refusal("a\n" * 12, "a")


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        ("x\ndef f():\n\tpass\n", "def f():\n    pass", "other white space or line endings it is at line 2"),
        ("x\nsay(\u201chi\u201d)\n", 'say("hi")', "with other quotation marks it is at line 2"),
        ("x\nHello There\n", "hello there", "in other case it is at line 2"),
        ("x\nfirst\nsecond\n", "first\nthird", "its first line is at line 2, but what follows differs"),
        ("x\n", "first\nthird", "read it again"),
        ("x\n", "y", "read it again"),
        ("x\n", "   ", "not in the file"),
        ("x\n", "y" * 20_000, "not in the file"),
        ("\u0130\nx\n", "X", "read it again"),
    ],
)
def test_an_absent_text_is_refused_with_what_may_have_been_meant(text: str, old: str, words: str) -> None:
    assert words in refusal(text, old)


def test_quotation_marks_are_never_adapted() -> None:
    refusal("\u2018a\u2019", "'a'")


def test_the_first_of_several_may_be_meant() -> None:
    assert substitute_first("a\r\nb\r\na\r\nb", "a\nb", "x\ny") == ("x\r\ny\r\na\r\nb", [1])
    for old, words in (("", "is empty"), ("z", "the text to find is not in the file"), ("a", "nothing would change")):
        with pytest.raises(BadInput, match=words):
            substitute_first("a", old, "a")
