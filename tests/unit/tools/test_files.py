"""Reading and changing whole files, as a caller does."""

import ast
import codecs
import os
from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.toolkit.outcome import ToolOutput
from marid.tools.files import edit_file, read_file, write_file
from marid.workspace.guard.api import MAX_FILE_BYTES


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    return ToolCaller(tmp_path)


@pytest.mark.parametrize("module", [ast, codecs, os])
def test_a_file_is_read_as_it_is(hands: ToolCaller, module: object) -> None:
    source = Path(str(vars(module)["__file__"])).read_bytes()
    (hands.root / "a.py").write_bytes(source)
    outcome = hands.output(read_file, path="a.py")
    assert outcome.text == source.decode()
    assert outcome.values == {"bytes": len(source), "lines": source.count(b"\n"), "encoding": "utf-8"}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a\r\nb\rc\n", "a\r\nb\rc\n"),
        (codecs.BOM_UTF8 + b"a", "a"),
        ("é\n".encode("utf-16"), "é\n"),
        (b"caf\xe9", "café"),
        ("a\u2028b\x85c".encode(), "a\u2028b\x85c"),
    ],
)
def test_any_encoding_is_read(hands: ToolCaller, data: bytes, text: str) -> None:
    (hands.root / "a").write_bytes(data)
    assert hands.text(read_file, path="a") == text


def test_a_name_with_a_line_end_is_read_and_shown_safely(hands: ToolCaller) -> None:
    (hands.root / "a\nb").write_text("x")
    assert hands.text(read_file, path="a\nb") == "x"
    assert "\n" not in hands.failure(read_file, path="a\nc").message


def test_what_is_no_text_file_is_refused_with_the_right_words(hands: ToolCaller) -> None:
    (hands.root / "folder").mkdir()
    (hands.root / "image").write_bytes(b"\x89PNG\0\0")
    os.mkfifo(hands.root / "pipe")
    with (hands.root / "huge").open("wb") as file:
        file.truncate(1 << 40)
    codes = {"folder": "bad_input", "image": "bad_input", "pipe": "bad_input", "huge": "exhausted", "none": "not_found"}
    assert {name: hands.failure(read_file, path=name).code for name in codes} == codes
    assert "get_file_slice" in hands.failure(read_file, path="huge").message


def test_a_file_is_written_with_its_folders_or_replaced_whole(hands: ToolCaller) -> None:
    assert hands.text(write_file, path="new/deep/a.txt", content="é\n") == "Created new/deep/a.txt: 1 line, 3 bytes"
    assert (hands.root / "new/deep/a.txt").read_bytes() == "é\n".encode()
    (hands.root / "a").write_bytes(b"\xff\xfe\x00")
    assert hands.text(write_file, path="a", content="x\r\ny") == "Wrote a: 2 lines, 4 bytes"
    assert (hands.root / "a").read_bytes() == b"x\r\ny"


def test_writing_what_is_there_changes_nothing(hands: ToolCaller) -> None:
    (hands.root / "a").write_text("x")
    outcome = hands.plan(write_file, path="a", content="x")
    assert isinstance(outcome, ToolOutput)
    assert "already" in outcome.text


def test_what_cannot_be_a_file_is_not_written(hands: ToolCaller) -> None:
    (hands.root / "folder").mkdir()
    assert hands.failure(write_file, path="folder", content="x").code == "bad_input"
    assert hands.failure(write_file, path="a", content="x\ud800").code == "bad_input"
    assert hands.failure(write_file, path="a", content="x" * (MAX_FILE_BYTES + 1)).code == "exhausted"
    assert not (hands.root / "a").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\ntwo\nthree\n", b"one\n2\nthree\n"),
        (b"one\r\ntwo\r\nthree", b"one\r\n2\r\nthree"),
        (codecs.BOM_UTF8 + b"two", codecs.BOM_UTF8 + b"2"),
        ("two\né".encode("utf-16"), "2\né".encode("utf-16")),
        (b"\xe9 two \x80", b"\xe9 2 \x80"),
        ("two\u2028\x85\r\x0b".encode(), "2\u2028\x85\r\x0b".encode()),
        (b"a\r\nb\ntwo\rc\r\n", b"a\r\nb\n2\rc\r\n"),
    ],
)
def test_an_edit_keeps_every_byte_that_it_does_not_change(hands: ToolCaller, before: bytes, after: bytes) -> None:
    (hands.root / "a").write_bytes(before)
    hands.text(edit_file, path="a", old_string="two", new_string="2")
    assert (hands.root / "a").read_bytes() == after


def test_an_edit_says_what_it_replaced(hands: ToolCaller) -> None:
    (hands.root / "a").write_text("x\ny\nx\n")
    outcome = hands.output(edit_file, path="a", old_string="x", new_string="z", replace_all="true")
    assert outcome.text == "Replaced 2 occurrences in a (lines 1, 3)"
    assert outcome.values == {"replaced": 2, "lines": [1, 3]}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("", "x", "old_string is empty"),
        ("nine", "x", "not in the file"),
        ("one", "one", "nothing would change"),
        ("o", "x", "occurs 3 times (lines 1, 2, 3)"),
        ("'quoted'", "x", "with other quotation marks it is at line 3"),
        ("one", "x\ud800", ""),
    ],
)
def test_an_edit_that_is_not_clear_is_refused(hands: ToolCaller, old: str, new: str, words: str) -> None:
    data = "one\ntwo\n\u2018quoted\u2019\n".encode()
    (hands.root / "a").write_bytes(data)
    failure = hands.failure(edit_file, path="a", old_string=old, new_string=new)
    assert failure.code == "bad_input"
    assert words in failure.message
    assert (hands.root / "a").read_bytes() == data


def test_a_result_that_is_too_large_is_refused(hands: ToolCaller) -> None:
    (hands.root / "a").write_text("x")
    failure = hands.failure(edit_file, path="a", old_string="x", new_string="y" * (MAX_FILE_BYTES + 1))
    assert failure.code == "exhausted"
