"""Words on stdout: as they are in a pipe, harmless on a terminal."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.patience import patient
from fakes.terminal import terminal
from marid.faces.cli.rendering import WIDTH, columns
from marid.faces.cli.sink_answer import Out, Plain, Rendered, safe
from marid.faces.signals import Signals


class Taken:
    """A pipe as stdout, and what came out of it."""

    def __init__(self, place: Path) -> None:
        self.path = place / "taken"
        self._file = self.path.open("w")
        self.out = Out(self._file, Signals(), lambda: None)

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
    Plain(taken.out).words("a\x1b[31m\r\n")
    Plain(taken.out).words("ü")
    assert taken.text == "a\x1b[31m\r\nü".encode()


def test_what_cannot_be_encoded_keeps_its_bytes_or_becomes_visible(taken: Taken) -> None:
    taken.out.write("\udce9")
    taken.out.write("\ud83d!")
    assert taken.text == b"\xe9\\ud83d!"


def test_a_reply_ends_with_one_newline_and_nothing_with_none(taken: Taken) -> None:
    plain = Plain(taken.out)
    plain.close()
    plain.words("one")
    plain.close()
    plain.close()
    plain.words("")
    plain.words("two\n")
    plain.close()
    assert taken.text == b"one\ntwo\n"


def test_on_a_terminal_nothing_moves_the_cursor() -> None:
    assert safe("a\tb\r\nc\n") == "a\tb\nc\n"
    assert safe("\x1b]0;title\x07 \u202e \r") == "\\x1b]0;title\\x07 \\u202e \\r"
    with terminal() as glass:
        Plain(Out(glass.file, Signals(), lambda: None)).words("\x1b[2Jgone")
        assert glass.text() == "\\x1b[2Jgone"


def test_without_a_terminal_lines_have_the_usual_width(taken: Taken) -> None:
    assert taken.out.width == WIDTH == columns(-1)


def test_a_reader_that_went_away_stops_the_round_once() -> None:
    stops: list[str] = []
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as stream:
        out = Out(stream, Signals(), lambda: stops.append("stop"))
        out.write("first")
        out.write("second")
    assert isinstance(out.trouble, BrokenPipeError)
    assert stops == ["stop"]


def test_a_descriptor_that_does_not_block_gets_everything() -> None:
    program = (
        "import os, sys\n"
        "from marid.faces.cli.sink_answer import Out\n"
        "from marid.faces.signals import Signals\n"
        "os.set_blocking(1, False)\n"
        "Out(sys.stdout, Signals(), lambda: None).write('x' * 1_000_000)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, timeout=30)
    assert len(done.stdout) == 1_000_000


def test_ctrl_c_ends_the_wait_for_a_reader_who_does_not_read() -> None:
    stops: list[str] = []
    reader, writer = os.pipe()
    filled = threading.Thread(target=_interrupt_when_full, args=(reader,))
    with open(writer, "w") as stream, patient() as signals, signals.held():
        out = Out(stream, signals, lambda: stops.append("stop"))
        filled.start()
        out.write("x" * 1_000_000)
        assert signals.exit_code == 130
    filled.join()
    os.close(reader)
    assert isinstance(out.trouble, KeyboardInterrupt)
    assert stops == ["stop"]


def _interrupt_when_full(reader: int) -> None:
    """The writer waits once the pipe holds something: it was told to write more than fits."""
    os.read(reader, 1)
    os.kill(os.getpid(), signal.SIGINT)


def test_markdown_is_rendered_reply_by_reply() -> None:
    with terminal() as glass:
        rendered = Rendered(Out(glass.file, Signals(), lambda: None), {"h1": "red"}, colour=True)
        rendered.close()
        for reply in ("# Ti", "tle\n\nsome **bold** words"):
            rendered.words(reply)
        rendered.close()
        rendered.words("next")
        rendered.close()
        shown = glass.text()
    assert "**" not in shown
    assert "\x1b[" in shown
    assert shown.endswith("next\n")
    assert "Title" in shown.replace("\x1b[0m", "")


def test_thoughts_are_rendered_as_thoughts(tmp_path: Path) -> None:
    with (tmp_path / "page").open("w") as file:
        rendered = Rendered(Out(file, Signals(), lambda: None), {}, colour=False, thoughts=True)
        rendered.words("hm **m**")
        rendered.close()
    assert "hm **m**" in (tmp_path / "page").read_text()
    assert "\x1b" not in (tmp_path / "page").read_text()


def test_a_rendered_line_is_as_wide_as_the_page(tmp_path: Path) -> None:
    with (tmp_path / "page").open("w") as file:
        rendered = Rendered(Out(file, Signals(), lambda: None), {}, colour=False)
        rendered.words("word " * 50)
        rendered.close()
    lines = (tmp_path / "page").read_text().splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= WIDTH
