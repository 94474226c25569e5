import subprocess
import sys
from pathlib import Path

import pytest

from fakes.program import Outcome, Program


class Installed:
    """The program in a folder of its own, called by its path."""

    def __init__(self, place: Path) -> None:
        self.script = place / "marid"
        self.script.write_text(f"#!{sys.executable}\nfrom marid.__main__ import main\nmain()\n")
        self.script.chmod(0o755)

    def __call__(self, *args: str, program: Path | None = None) -> Outcome:
        done = subprocess.run([program or self.script, *args], capture_output=True, timeout=60, check=False)
        return Outcome(code=done.returncode, out=done.stdout, err=done.stderr.decode())


@pytest.fixture
def installed(marid: Program, tmp_path: Path) -> Installed:
    marid.write({"a.py": "x"})
    return Installed(tmp_path)


def test_a_link_is_the_program_by_another_name(installed: Installed, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    made = installed("links", str(links)).lines
    assert made == [f"{links}/{name} -> {installed.script}" for name in ("jinni", "chibi", "chibi-json")]
    assert installed("--list-only", ".", program=links / "jinni").text == "a.py\n"
    assert "Usage: jinni " in installed(program=links / "jinni").err


def test_a_link_for_each_program_that_is_replaced_is_that_program(installed: Installed, tmp_path: Path) -> None:
    installed("links", str(tmp_path))
    assert installed("--version", program=tmp_path / "chibi").text.startswith("marid ")
    asked = installed("--version", program=tmp_path / "chibi-json")
    assert (asked.code, asked.err) == (0, '{"type":"done","ok":true}\n')


def test_a_link_that_is_there_is_left_alone(installed: Installed, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    installed("links", str(links))
    again = installed("links", str(links)).lines
    assert again == [f"{links}/{name} already exists" for name in ("jinni", "chibi", "chibi-json")]


def test_what_is_not_ours_is_never_overwritten(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "jinni").write_text("mine")
    told = installed("links", str(tmp_path))
    assert (told.code, told.err) == (
        2,
        f"marid: {tmp_path}/jinni exists and is not a link to marid; remove it first\n",
    )
    assert (tmp_path / "jinni").read_text() == "mine"


def test_a_folder_that_is_not_there_is_told(installed: Installed) -> None:
    assert installed("links", "gone").code == 4


def test_a_folder_in_which_nobody_may_write_is_refused(installed: Installed) -> None:
    told = installed("links", "/proc")
    assert told.code == 3
    assert "/proc/jinni: " in told.err


def test_only_the_installed_program_makes_links(marid: Program) -> None:
    told = marid("links", ".")
    assert (told.code, told.err) == (2, "marid: run the installed program `marid` to link to it\n")
