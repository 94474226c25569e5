import base64
import os
import tty
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from marid.adapters.system_clipboard import CLIPBOARD_PROGRAMS, MAX_SEQUENCE_LENGTH, SystemClipboard
from marid.core.errors import Unavailable

NAMES = [tool.argv[0] for tool in CLIPBOARD_PROGRAMS]
DISPLAYS = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}


def install(place: Path, name: str, end: str = "") -> None:
    """A stand-in on a PATH of its own, which keeps what it is given."""
    program = place / name
    script = f"#!/bin/sh\nPATH=/usr/bin:/bin\ncat > '{place}/{name}.got'\necho \"$@\" > '{place}/{name}.args'\n{end}\n"
    program.write_text(script)
    program.chmod(0o755)


def got(place: Path, name: str) -> bytes:
    return (place / f"{name}.got").read_bytes()


def clipboard(place: Path, **env: str) -> SystemClipboard:
    return SystemClipboard({"PATH": str(place), **env}, terminal=str(place / "no-terminal"))


def test_the_tools_are_tried_in_order(tmp_path: Path) -> None:
    for name in NAMES:
        install(tmp_path, name)
    for name in NAMES:
        assert clipboard(tmp_path, **DISPLAYS).copy("ü😀".encode()) == name
        windows = b"\xff\xfe" + "ü😀".encode("utf-16-le")
        assert got(tmp_path, name) == (windows if name == "clip.exe" else "ü😀".encode())
        (tmp_path / name).unlink()


@pytest.mark.parametrize(
    ("env", "used"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0"}, "wl-copy"),
        ({"DISPLAY": ":0"}, "xclip"),
        ({"DISPLAY": "", "WAYLAND_DISPLAY": ""}, "pbcopy"),
        ({}, "pbcopy"),
    ],
)
def test_a_tool_without_its_display_is_passed_over(tmp_path: Path, env: dict[str, str], used: str) -> None:
    for name in NAMES:
        install(tmp_path, name)
    assert clipboard(tmp_path, **env).copy(b"text") == used


def test_text_arrives_as_it_is(tmp_path: Path) -> None:
    install(tmp_path, "xsel")
    text = "ü\n\0\r\n日本".encode() + b"\xff" + b"x" * 3_000_000
    assert clipboard(tmp_path, **DISPLAYS).copy(text) == "xsel"
    assert got(tmp_path, "xsel") == text
    assert (tmp_path / "xsel.args").read_text() == "--clipboard --input\n"


def test_a_tool_that_stays_behind_to_serve_is_not_waited_for_and_not_killed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "question")
    os.mkfifo(tmp_path / "answer")
    install(tmp_path, "xclip", f"(read word < '{tmp_path}/question'; echo $word > '{tmp_path}/answer') &")
    assert clipboard(tmp_path, **DISPLAYS).copy(b"text") == "xclip"
    (tmp_path / "question").write_text("still here\n")
    assert (tmp_path / "answer").read_text() == "still here\n"


@pytest.mark.parametrize("end", ["exit 1", "exec sleep 30", "cannot start"])
def test_a_tool_that_fails_is_passed_over(tmp_path: Path, end: str) -> None:
    install(tmp_path, "xclip", end)
    if end == "cannot start":
        (tmp_path / "xclip").write_text("#!/no/such/shell\n")
    install(tmp_path, "xsel")
    place = SystemClipboard({"PATH": str(tmp_path), **DISPLAYS}, terminal="/no", timeout=1.5)
    assert place.copy(b"text") == "xsel"


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    """The far end of a terminal, and the name of the near one."""
    far, near = os.openpty()
    tty.setraw(near)
    try:
        yield far, os.ttyname(near)
    finally:
        os.close(near)
        os.close(far)


def read_sequence(far: int) -> bytes:
    seen = b""
    while not seen.endswith(b"\x07"):
        seen += os.read(far, 65536)
    return seen


@pytest.mark.parametrize("size", [0, 5, MAX_SEQUENCE_LENGTH * 3 // 4])
def test_the_terminal_is_the_last_resort(tmp_path: Path, terminal: tuple[int, str], size: int) -> None:
    far, name = terminal
    data = os.urandom(size)
    with ThreadPoolExecutor(1) as pool:
        seen = pool.submit(read_sequence, far)
        place = SystemClipboard({"PATH": str(tmp_path), "TERM": "xterm-256color"}, terminal=name)
        assert place.copy(data) == "OSC 52"
        assert seen.result(10) == b"\x1b]52;c;" + base64.b64encode(data) + b"\x07"


@pytest.mark.parametrize(
    ("term", "size"), [("dumb", 5), ("", 5), ("linux", 5), ("xterm", MAX_SEQUENCE_LENGTH * 3 // 4 + 1)]
)
def test_a_plain_terminal_or_too_long_a_text_is_not_sent(
    tmp_path: Path, terminal: tuple[int, str], term: str, size: int
) -> None:
    far, name = terminal
    with pytest.raises(Unavailable, match="cannot copy to the clipboard"):
        SystemClipboard({"PATH": str(tmp_path), "TERM": term}, terminal=name).copy(b"x" * size)
    os.set_blocking(far, False)
    with pytest.raises(BlockingIOError):
        os.read(far, 1)


def test_a_terminal_that_stopped_listening_is_given_up(tmp_path: Path, terminal: tuple[int, str]) -> None:
    _, name = terminal
    place = SystemClipboard({"PATH": str(tmp_path), "TERM": "xterm"}, terminal=name, timeout=0.2)
    with pytest.raises(Unavailable):
        place.copy(b"x" * 70_000)


def test_a_terminal_that_is_gone_is_given_up(tmp_path: Path) -> None:
    far, near = os.openpty()
    name = os.ttyname(near)
    os.close(far)
    place = SystemClipboard({"PATH": str(tmp_path), "TERM": "xterm"}, terminal=name)
    try:
        with pytest.raises(Unavailable):
            place.copy(b"text")
    finally:
        os.close(near)


def test_a_file_is_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable):
        SystemClipboard({"TERM": "xterm"}, terminal=str(tmp_path / "file")).copy(b"text")
    assert (tmp_path / "file").read_bytes() == b""


def test_the_message_names_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="none of wl-copy, xclip, xsel, pbcopy, clip") as error:
        clipboard(tmp_path).copy(b"x" * 100_000)
    assert "at most 75,000 bytes; these are 100,000" in str(error.value)
