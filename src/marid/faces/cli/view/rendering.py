"""Markdown as a terminal shows it. The renderer is imported when it is used: a pipe needs none of it."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from marid.faces.cli.view.markdown import Renderer


DEFAULT_WIDTH = 80


class MarkdownLook(NamedTuple):
    """The colours of the settings, and whether there are any."""

    style: Mapping[str, str]
    colour: bool


def terminal_width(descriptor: int) -> int:
    """The width of a terminal, or a usual one."""
    try:
        return os.get_terminal_size(descriptor).columns or DEFAULT_WIDTH
    except OSError:
        return DEFAULT_WIDTH


def make_renderer(write: Callable[[str], None], width: Callable[[], int], look: MarkdownLook) -> "Renderer":
    """What renders markdown as it comes."""
    from marid.faces.cli.view.markdown import Renderer

    return Renderer(write, width=width, style=look.style, colour=look.colour)


def render_markdown(text: str, width: int, look: MarkdownLook) -> str:
    """A whole text, which ends with one newline."""
    parts: list[str] = []
    made = make_renderer(parts.append, lambda: width, look)
    made.feed(text.encode("utf-8", "backslashreplace").decode())
    made.end()
    return "".join(parts).rstrip("\n") + "\n"
