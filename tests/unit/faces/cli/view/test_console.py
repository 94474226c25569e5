import io
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.faces.cli.view.console import EscapeGuard, print_line, print_note, redirect_target, write_stderr


def test_a_line_for_the_person_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_note("something")
    assert capsys.readouterr() == ("", "marid: something\n")


def test_a_character_that_stderr_cannot_hold_is_shown_as_an_escape() -> None:
    raw = io.BytesIO()
    with redirect_stderr(io.TextIOWrapper(raw, encoding="ascii")) as stream:
        write_stderr("é\udcff\n")
        stream.flush()
        assert raw.getvalue() == b"\\xe9\\udcff\n"


def test_a_stream_without_an_encoding_is_good_enough() -> None:
    with redirect_stderr(io.StringIO()) as stream:
        write_stderr("é")
    assert stream.getvalue() == "é"


def test_a_line_of_the_result_keeps_the_bytes_of_names(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    print_line("\udcffé")
    assert capfdbinary.readouterr().out == b"\xff\xc3\xa9\n"


def test_where_stdout_was_redirected_to_is_known(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file, redirect_stdout(file):
        assert redirect_target() == str(tmp_path / "out")
    reader, writer = os.pipe()
    with open(writer, "w") as pipe, redirect_stdout(pipe):
        assert redirect_target() == ""
    os.close(reader)


def test_what_is_said_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    print_note("no 'x\x1b[2J\x9b\u202e\r'\n  second\tline")
    assert capsys.readouterr().err == "marid: no 'x\\x1b[2J\\x9b\\u202e\\r'\n  second\tline\n"


def made_safe(*fragments: str) -> str:
    safe = EscapeGuard()
    return "".join([*(safe.feed(fragment) for fragment in fragments), safe.end()])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 中é\ttab\nline", "plain 中é\ttab\nline"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b1m \x07\x08\x00\x7f", "\\x9b1m \\x07\\x08\\x00\\x7f"),
        ("a\u202eb\u2066c\u200f", "a\\u202eb\\u2066c\\u200f"),
        ("a\u2028b\x85c\x0b", "a\\u2028b\\x85c\\x0b"),
        ("a\r\nb\rc\r", "a\nb\\rc\\r"),
        ("a\u00a0b\u3000c", "a\u00a0b\u3000c"),
        ("👨\u200d👩 a\u200db", "👨\u200d👩 a\\u200db"),
        ("é\n\u200d", "é\n\\u200d"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_would_be_obeyed_becomes_visible(text: str, shown: str) -> None:
    assert made_safe(text) == made_safe(*text) == shown


@given(st.text(st.characters(codec=None) | st.sampled_from("\r\n\x1b\u200d\u202e")), st.integers(1, 5))
def test_fragments_make_no_difference(text: str, size: int) -> None:
    assert made_safe(*(text[at : at + size] for at in range(0, len(text), size))) == made_safe(text)
