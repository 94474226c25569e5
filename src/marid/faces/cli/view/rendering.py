"""Render markdown for a terminal. The renderer is imported when used: a pipe does not need it."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from marid.faces.cli.view.markdown import Renderer


DEFAULT_WIDTH = 80


class MarkdownLook(NamedTuple):
    """The colours of the settings, and whether to use them."""

    style: Mapping[str, str]
    colour: bool


def terminal_width(descriptor: int) -> int:
    """The width of a terminal, or 80."""
    try:
        return os.get_terminal_size(descriptor).columns or DEFAULT_WIDTH
    except OSError:
        return DEFAULT_WIDTH


def make_renderer(write: Callable[[str], None], width: Callable[[], int], look: MarkdownLook) -> "Renderer":
    """A renderer for streamed markdown."""
    from marid.faces.cli.view.markdown import Renderer

    return Renderer(write, width=width, style=look.style, colour=look.colour)


def render_markdown(text: str, width: int, look: MarkdownLook) -> str:
    """Render a whole text; it ends with one newline."""
    parts: list[str] = []
    made = make_renderer(parts.append, lambda: width, look)
    made.feed(text.encode("utf-8", "backslashreplace").decode())
    made.end()
    return "".join(parts).rstrip("\n") + "\n"
