"""What a person says, from wherever it comes."""

import errno
import io
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from marid.core.errors import BadInput, Exhausted
from marid.faces.cli.chat.prompt_input import HINT, read_prompt, replace_invalid_bytes

MOST = 1.0


def piped(data: bytes) -> TextIO:
    return io.TextIOWrapper(io.BytesIO(data))


@pytest.fixture
def keyboard() -> Iterator[tuple[int, TextIO]]:
    """What is typed, and the terminal on which it is read."""
    glass, line = pty.openpty()
    with open(line, encoding="utf-8") as file:
        yield glass, file
    os.close(glass)


def test_the_prompt_is_the_words_and_after_a_blank_line_the_piped_text_with_its_newlines() -> None:
    assert read_prompt("two words", None, MOST) == "two words"
    assert read_prompt("explain", piped(b"one\n\n  two\n\n"), MOST) == "explain\n\none\n\n  two\n\n"
    assert read_prompt("", piped(b"\na\r\nb\r\n"), MOST) == "\na\r\nb\r\n"
    for data in (b"", b"\n", b" \n\t\n"):
        assert read_prompt("words", piped(data), MOST) == "words"


@pytest.mark.parametrize("words", ["", "  ", "\n"])
@pytest.mark.parametrize("stdin", [None, b"", b"\n \n"])
def test_a_blank_prompt_is_refused(words: str, stdin: bytes | None) -> None:
    with pytest.raises(BadInput, match="the prompt is empty"):
        read_prompt(words, None if stdin is None else piped(stdin), MOST)


def test_what_is_no_utf8_is_replaced_and_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert read_prompt("", piped(b"caf\xe9 \xff!"), MOST) == "caf\ufffd \ufffd!"
    assert "not all of the input is UTF-8" in capfd.readouterr().err


def test_a_byte_order_mark_decides(capfd: pytest.CaptureFixture[str]) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        assert read_prompt("", piped("žluť".encode(encoding)), MOST) == "žluť"
    assert capfd.readouterr().err == ""


def test_more_than_a_context_may_hold_is_refused() -> None:
    with pytest.raises(Exhausted, match=r"larger than 0\.5 MB"):
        read_prompt("", piped(b"x" * 500_001), 0.5)


def test_an_input_that_was_closed_or_is_a_folder_is_none(tmp_path: Path) -> None:
    closed = piped(b"never read")
    closed.close()
    assert read_prompt("words", closed, MOST) == "words"
    folder = os.open(tmp_path, os.O_RDONLY)

    class Folder(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: object) -> int:
            return len(os.read(folder, 1))

    assert read_prompt("words", io.TextIOWrapper(io.BufferedReader(Folder())), MOST) == "words"
    os.close(folder)


def test_a_pipe_out_of_which_nothing_comes_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    reader, writer = os.pipe()
    late = threading.Timer(0.05, os.close, (writer,))
    with open(reader) as stdin:
        late.start()
        assert read_prompt("words", stdin, MOST, slow_after=0.0) == "words"
        assert "waiting for stdin" in capfd.readouterr().err
        assert read_prompt("words", stdin, MOST, slow_after=0.0) == "words"
        assert capfd.readouterr().err == ""


def test_what_is_typed_ends_with_a_dot_alone(keyboard: tuple[int, TextIO], capfd: pytest.CaptureFixture[str]) -> None:
    glass, line = keyboard
    os.write(glass, "Zeile 1 äöü\n.not this\n\n.\nnot read\n".encode())
    assert read_prompt("", line, MOST) == "Zeile 1 äöü\n.not this\n"
    assert HINT in capfd.readouterr().err


def test_what_is_typed_ends_with_the_end_of_input(keyboard: tuple[int, TextIO]) -> None:
    glass, line = keyboard
    os.write(glass, b"only this\n\x04")
    assert read_prompt("", line, MOST) == "only this"


def test_a_terminal_is_not_read_where_there_are_words(keyboard: tuple[int, TextIO]) -> None:
    assert read_prompt("words", keyboard[1], MOST) == "words"


def test_words_keep_whatever_is_text(capfd: pytest.CaptureFixture[str]) -> None:
    assert replace_invalid_bytes("naïve → \U0001f600\n") == "naïve → \U0001f600\n"
    assert capfd.readouterr().err == ""
    assert replace_invalid_bytes("a\udcffb") == "a\ufffdb"
    assert "not all of the input is UTF-8" in capfd.readouterr().err


def test_what_is_piped_in_and_cannot_be_read_is_told() -> None:
    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: object) -> int:
            raise OSError(errno.ESTALE, "Stale file handle")

    with pytest.raises(BadInput, match="cannot read stdin: Stale"):
        read_prompt("words", io.TextIOWrapper(io.BufferedReader(Broken())), MOST)


def test_what_nohup_puts_in_the_place_of_a_terminal_is_nothing() -> None:
    script = (
        "import sys; from marid.faces.cli.chat.prompt_input import read_prompt\n"
        "print(read_prompt('words', sys.stdin, 1))"
    )
    command = [sys.executable, "-c", script]
    with open(os.devnull, "wb", buffering=0) as unreadable:
        done = subprocess.run(command, stdin=unreadable, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    assert done.stdout == "words\n"
