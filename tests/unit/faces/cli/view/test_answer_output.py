import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.program import lasting_signals
from fakes.terminal import terminal
from marid.faces.cli.view.answer_output import (
    DEFAULT_WIDTH,
    AnswerStream,
    MarkdownAnswer,
    MarkdownLook,
    PlainAnswer,
    escape_for_terminal,
    make_renderer,
    render_markdown,
    terminal_width,
)
from marid.faces.signals import SignalGuard


class Taken:
    """A pipe as stdout, and what came out of it."""

    def __init__(self, place: Path) -> None:
        self.path = place / "taken"
        self._file = self.path.open("w")
        self.out = AnswerStream(self._file, SignalGuard(), lambda: None)

    @property
    def text(self) -> bytes:
        return self.path.read_bytes()

    def close(self) -> None:
        self._file.close()


@pytest.fixture
def taken(tmp_path: Path) -> Iterator[Taken]:
    one = Taken(tmp_path)
    yield one
    one.close()


def test_a_pipe_gets_the_text_as_it_is(taken: Taken) -> None:
    PlainAnswer(taken.out).write("a\x1b[31m\r\n")
    PlainAnswer(taken.out).write("ü")
    assert taken.text == "a\x1b[31m\r\nü".encode()


def test_what_cannot_be_encoded_keeps_its_bytes_or_becomes_visible(taken: Taken) -> None:
    taken.out.write("\udce9")
    taken.out.write("\ud83d!")
    assert taken.text == b"\xe9\\ud83d!"


def test_a_reply_ends_with_one_newline_and_nothing_with_none(taken: Taken) -> None:
    plain = PlainAnswer(taken.out)
    plain.close()
    plain.write("one")
    plain.close()
    plain.close()
    plain.write("")
    plain.write("two\n")
    plain.close()
    assert taken.text == b"one\ntwo\n"


def test_on_a_terminal_nothing_moves_the_cursor() -> None:
    assert escape_for_terminal("a\tb\r\nc\n") == "a\tb\nc\n"
    assert escape_for_terminal("\x1b]0;title\x07 \u202e \r") == "\\x1b]0;title\\x07 \\u202e \\r"
    with terminal() as glass:
        PlainAnswer(AnswerStream(glass.file, SignalGuard(), lambda: None)).write("\x1b[2Jgone")
        assert glass.text() == "\\x1b[2Jgone"


def test_without_a_terminal_lines_have_the_usual_width(taken: Taken) -> None:
    assert taken.out.width == DEFAULT_WIDTH == terminal_width(-1)


def test_a_reader_that_went_away_stops_the_round_once() -> None:
    stops: list[str] = []
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as stream:
        out = AnswerStream(stream, SignalGuard(), lambda: stops.append("stop"))
        out.write("first")
        out.write("second")
    assert isinstance(out.error, BrokenPipeError)
    assert stops == ["stop"]


def test_a_descriptor_that_does_not_block_gets_everything() -> None:
    program = (
        "import os, sys\n"
        "from marid.faces.cli.view.answer_output import AnswerStream\n"
        "from marid.faces.signals import SignalGuard\n"
        "os.set_blocking(1, False)\n"
        "AnswerStream(sys.stdout, SignalGuard(), lambda: None).write('x' * 1_000_000)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, timeout=30)
    assert len(done.stdout) == 1_000_000


def test_ctrl_c_ends_the_wait_for_a_reader_who_does_not_read() -> None:
    stops: list[str] = []
    reader, writer = os.pipe()
    filled = threading.Thread(target=_interrupt_when_full, args=(reader,))
    with open(writer, "w") as stream, lasting_signals() as signals, signals.defer_interrupts():
        out = AnswerStream(stream, signals, lambda: stops.append("stop"))
        filled.start()
        out.write("x" * 1_000_000)
        assert signals.exit_code == 130
    filled.join()
    os.close(reader)
    assert isinstance(out.error, KeyboardInterrupt)
    assert stops == ["stop"]


def _interrupt_when_full(reader: int) -> None:
    """The writer waits once the pipe holds something: it was told to write more than fits."""
    os.read(reader, 1)
    os.kill(os.getpid(), signal.SIGINT)


def test_markdown_is_rendered_reply_by_reply() -> None:
    with terminal() as glass:
        rendered = MarkdownAnswer(
            AnswerStream(glass.file, SignalGuard(), lambda: None), MarkdownLook({"h1": "red"}, colour=True)
        )
        rendered.close()
        for reply in ("# Ti", "tle\n\nsome **bold** words"):
            rendered.write(reply)
        rendered.close()
        rendered.write("next")
        rendered.close()
        shown = glass.text()
    assert "**" not in shown
    assert "\x1b[" in shown
    assert shown.endswith("next\n")
    assert "Title" in shown.replace("\x1b[0m", "")


def test_thoughts_are_rendered_as_thoughts(tmp_path: Path) -> None:
    with (tmp_path / "page").open("w") as file:
        rendered = MarkdownAnswer(
            AnswerStream(file, SignalGuard(), lambda: None), MarkdownLook({}, colour=False), reasoning=True
        )
        rendered.write("hm **m**")
        rendered.close()
    assert "hm **m**" in (tmp_path / "page").read_text()
    assert "\x1b" not in (tmp_path / "page").read_text()


def test_a_rendered_line_is_as_wide_as_the_page(tmp_path: Path) -> None:
    with (tmp_path / "page").open("w") as file:
        rendered = MarkdownAnswer(AnswerStream(file, SignalGuard(), lambda: None), MarkdownLook({}, colour=False))
        rendered.write("word " * 50)
        rendered.close()
    lines = (tmp_path / "page").read_text().splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= DEFAULT_WIDTH


def test_a_whole_text_is_what_would_have_come_piece_by_piece() -> None:
    pieces: list[str] = []
    made = make_renderer(pieces.append, lambda: 40, MarkdownLook({}, colour=False))
    for char in "# Title\n\n**bold** words":
        made.feed(char)
    made.end()
    whole = render_markdown("# Title\n\n**bold** words", MarkdownLook({}, colour=False))
    assert "".join(pieces).rstrip("\n") + "\n" == whole
    assert "**" not in whole


def test_half_a_character_is_shown_as_its_escape() -> None:
    assert render_markdown("a\udcff", MarkdownLook({}, colour=False)).strip() == r"a\udcff"
