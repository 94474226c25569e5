"""The help of every command: it follows the terminal and shows whole words."""

import click
import pytest

from marid.launch.commands import COMMANDS
from marid.launch.program import find_command


def pages(width: int) -> list[str]:
    """The help of every command and of those inside it."""
    found: list[str] = []
    todo = [(name, find_command(name)) for name in COMMANDS if name not in ("json", "mcp", "tool", "tools")]
    for name, command in todo:
        assert command is not None
        with command.make_context(f"marid {name}", [], resilient_parsing=True, terminal_width=width) as ctx:
            found.append(command.get_help(ctx))
        if isinstance(command, click.Group):
            todo += [(f"{name} {inner}", one) for inner, one in command.commands.items()]
    return found


@pytest.mark.parametrize("width", [44, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    wide = [line for page in pages(width) for line in page.splitlines() if len(line) > width]
    # The usage of a flag, or a command line, cannot be broken.
    assert [line for line in wide if not line.lstrip().startswith(("-", "marid", "git", "eval", "~/"))] == []


def test_no_word_is_broken_or_lost() -> None:
    for narrow, broad in zip(pages(44), pages(120), strict=True):
        assert narrow.split() == broad.split()


def test_examples_stand_below_the_text() -> None:
    page = pages(80)[0]
    assert "Send a prompt and print the answer." in page
    assert page.index("Examples:\n  marid say") < page.index("Options:")
