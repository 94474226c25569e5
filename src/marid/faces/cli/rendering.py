"""Markdown as a terminal shows it. The renderer is imported when it is used: a pipe needs none of it."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from marid.faces.cli.markdown import Renderer


WIDTH = 80


class Look(NamedTuple):
    """The colours of the settings, and whether there are any."""

    style: Mapping[str, str]
    colour: bool


def columns(descriptor: int) -> int:
    """The width of a terminal, or a usual one."""
    try:
        return os.get_terminal_size(descriptor).columns or WIDTH
    except OSError:
        return WIDTH


def renderer(write: Callable[[str], None], width: Callable[[], int], look: Look) -> "Renderer":
    """What renders markdown as it comes."""
    from marid.faces.cli.markdown import Renderer

    return Renderer(write, width=width, style=look.style, colour=look.colour)


def rendered(text: str, width: int, look: Look) -> str:
    """A whole text, which ends with one newline."""
    parts: list[str] = []
    made = renderer(parts.append, lambda: width, look)
    made.feed(text.encode("utf-8", "backslashreplace").decode())
    made.end()
    return "".join(parts).rstrip("\n") + "\n"
