import click
import pytest

from fakes.program import Program
from marid.faces.cli.argv.option_tables import GROUPS, OPTIONS
from marid.faces.cli.commands.context import command


def test_the_help_shows_every_option_in_its_group(marid: Program) -> None:
    shown = marid.context("--help")
    assert shown.code == 0
    titles = [line.rstrip(":") for line in shown.lines if line and not line.startswith(" ") and line.endswith(":")]
    assert titles == [*(title for title, _ in GROUPS), "Other"]
    assert [flag for option in OPTIONS for flag in option.flags if f"{flag}" not in shown.text] == []
    assert "-f, --format [text|markdown|xml|json]" in shown.text
    assert "--diff [REV]" in shown.text
    assert marid.context("-h").text == shown.text


def test_a_wrong_option_is_told_with_what_was_meant(marid: Program) -> None:
    told = marid.context("--list-onyl")
    assert (told.code, told.out) == (2, b"")
    assert "--list-only" in told.err


@pytest.mark.parametrize("args", [["--budget", "many"], ["--format", "yaml"], ["--output"]])
def test_a_wrong_value_is_bad_input(marid: Program, args: list[str]) -> None:
    assert marid.context(*args).code == 2


def test_called_as_jinni_a_path_is_needed(marid: Program) -> None:
    marid.write({"a.py": "x"})
    told = marid(called="/usr/bin/jinni")
    assert told.code == 2
    assert "Usage: jinni " in told.err
    assert "Missing argument '<path>'." in told.err
    assert marid(".", called="jinni").text.startswith("File: a.py\n")
    assert marid("--list-only", ".", called="jinni").text == "a.py\n"
    assert marid("--files-from", "a.py", called="jinni").code == 2


def test_the_documents_own_command_line_works(marid: Program) -> None:
    marid.write({"a.py": "x", "b.md": "y", "rules": "!*.md\n!rules\n"})
    assert marid("--list-only", "--config", "rules", ".", called="jinni").text == "a.py\n"
    assert marid(".", "--output", "out.txt", called="jinni").out == b""
    assert (marid.folder / "out.txt").read_text().startswith("File: a.py\n")


def test_targets_are_not_looked_at_by_click() -> None:
    with command.make_context("context", ["no/such/path"]) as ctx:
        assert ctx.params["targets"] == ("no/such/path",)
    assert isinstance(command, click.Command)
