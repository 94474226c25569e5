from pathlib import Path

import pytest

from fakes.real_app import add_messages, real_scope
from marid.app.app import RequestScope
from marid.core.errors import NotFound
from marid.faces.cli.argv.command_line import parse_command_line
from marid.faces.cli.quick_commands import PlainArguments, parse_plain_arguments, quick_command


def test_words_that_are_all_known_are_read() -> None:
    assert parse_plain_arguments(["a", "-v", "-n", "-3"], switches=("-v",), numbers=("-n",)) == PlainArguments(
        frozenset({"-v"}), {"-n": "-3"}, ("a",)
    )
    assert parse_plain_arguments(["-n", "x"], numbers=("-n",)) is None
    assert parse_plain_arguments(["-n"], numbers=("-n",)) is None
    assert parse_plain_arguments(["--help"]) is None


@pytest.mark.parametrize(
    "args",
    [
        ["conversations", "show"],
        ["conversations", "--help"],
        ["-v", "conversations"],
        ["log", "a", "b"],
        ["log", "--follow"],
        ["context"],
        ["tool"],
        ["tool", "--json", "read_file"],
        ["tool", "read_file", "--path", "a"],
    ],
)
def test_what_is_unusual_is_left_to_click(args: list[str]) -> None:
    assert quick_command(parse_command_line(args, ("conversations", "log", "context", "tool")), _fail) is None


def _fail() -> RequestScope:
    raise NotFound("the project is gone")


def test_lists_and_logs_are_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scope = real_scope(tmp_path)
    add_messages(scope, "work", "one", "two")
    for args in (["conversations", "list"], ["--home", "x", "log", "work", "-n", "1"]):
        quick = quick_command(parse_command_line(args, ("conversations", "log")), lambda: scope)
        assert quick is not None
        assert quick() == 0
    assert capfd.readouterr().out.splitlines()[-2:] == ["two", ""]
