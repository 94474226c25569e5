"""What rich lays out: the theme, the text inside a block, and tables row by row."""

import re
from collections.abc import Iterable, Mapping
from io import StringIO
from typing import Literal, cast

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import box
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from marid.core.settings.colours import GREYS
from marid.faces.cli.view.console import escape_controls

MEASURED_ROWS = 20  # rows of a table that are held until its widths are fixed
_NARROWEST_COLUMN = 4  # of the terminal, with the border
_HALF_BRIGHT = 128  # of 255
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,100}\]")

# Readable on dark and on light terminals.
_DEFAULTS = """
    h1=bright_magenta h2=magenta h3=cyan h4=blue h5=green h6=grey code_bg=black code_label=grey bullet=cyan
    table_header_bg=blue table_border=grey blockquote_border=green think_border=grey hr=grey link_url=blue
    image_marker=magenta footnote=cyan
"""


def make_console(style: Mapping[str, str]) -> Console:
    """Make a console with the colours of the settings. It writes nothing and ignores the environment."""
    names = {**_default_colours(), **style}
    colours = {part: "bright_black" if name in GREYS else name for part, name in names.items()}
    styles = {
        part: Style(color=colour, bold=part in {"h1", "h2", "h3", "h4", "h5", "h6"}) for part, colour in colours.items()
    }
    styles["code"] = _make_ground(colours["code_bg"])
    styles["table_header"] = _make_ground(colours["table_header_bg"]) + Style(bold=True)
    styles["link"] = Style(underline=True)
    theme = Theme({f"markdown.{part}": one for part, one in styles.items()})
    return Console(file=StringIO(), force_terminal=True, color_system="truecolor", theme=theme, _environ={})


def _default_colours() -> dict[str, str]:
    pairs = (pair.partition("=") for pair in _DEFAULTS.split())
    return {part: name for part, _, name in pairs}


def _make_ground(colour: str) -> Style:
    """Make a background with a text colour that is readable on it, whatever the terminal's own colour."""
    return Style(color="bright_white" if is_dark(Color.parse(colour)) else "black", bgcolor=colour)


def is_dark(colour: Color) -> bool:
    """Whether light text is readable on it."""
    red, green, blue = colour.get_truecolor()
    return 0.299 * red + 0.587 * green + 0.114 * blue < _HALF_BRIGHT


class InlineParser:
    """Turns the text of a block into styled text, without hyperlinks and with HTML shown as text."""

    def __init__(self) -> None:
        self._parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough")

    def parse(self, source: str) -> Text:
        """Return the styled text; line breaks stay where they are."""
        text = Text(overflow="fold")
        for token in self._parser.parseInline(source):
            _append_tokens(text, token.children or ())
        return text


def _append_tokens(text: Text, tokens: Iterable[Token]) -> None:
    opened: list[tuple[int, Token]] = []
    for token in tokens:
        start = len(text)
        # Escape again: the parser has decoded entities such as &#x202e;
        content = escape_controls(token.content)
        if token.type in {"softbreak", "hardbreak"}:
            text.append("\n")
        elif token.type == "image":
            text.append("[image] ", "markdown.image_marker")
            _append_tokens(text, token.children or ())
            _append_address(text, start + len("[image] "), token)
        elif token.nesting == 1:
            opened.append((start, token))
        elif token.nesting == -1 and opened:
            start, opener = opened.pop()
            is_link = opener.type == "link_open"
            text.stylize("markdown.link" if is_link else f"markdown.{opener.tag}", start)
            if is_link:
                _append_address(text, start, opener)
        else:
            text.append(content, "markdown.code" if token.type == "code_inline" else None)
            for found in _FOOTNOTE.finditer(content):
                text.stylize("markdown.footnote", start + found.start(), start + found.end())


def _append_address(text: Text, start: int, token: Token) -> None:
    """Show the address of a link or image, unless its text, from `start` on, is the address."""
    address, title = (str(token.attrs.get(one) or "") for one in ("src" if token.type == "image" else "href", "title"))
    shown = escape_controls(f'{address} "{title}"' if title else address)
    if shown and text.plain[start:] != shown:
        text.append(" (").append(shown, "markdown.link_url").append(")")


class TableRows:
    """The rows of a table, the header first. The first rows fix the widths of the columns."""

    def __init__(self, console: Console, inline: InlineParser, alignments: list[str], room: int) -> None:
        self._console = console
        self._inline = inline
        self._alignments = alignments
        self._room = room
        self._held: list[list[Text]] = []
        self._widths: list[int] = []
        self._bottom: list[Segment] = []

    def add(self, cells: list[str]) -> list[list[Segment]]:
        """Take a row and return the lines that can be written now; surplus cells join the last one."""
        last = len(self._alignments) - 1
        cells = [*cells[:last], " | ".join(cells[last:]), *[""] * (last - len(cells))]
        row = [self._inline.parse(cell) for cell in cells]
        if self._widths:
            return self._draw([row])[1:]
        self._held.append(row)
        # Later rows may be wider.
        return self._draw_held(spare=2) if len(self._held) > MEASURED_ROWS else []

    def close(self) -> list[list[Segment]]:
        """Return the last lines."""
        lines = [] if self._widths else self._draw_held()
        return [*lines, self._bottom]

    def _draw_held(self, spare: int = 1) -> list[list[Segment]]:
        natural = [spare * max(cell.cell_len for cell in column) for column in zip(*self._held, strict=True)]
        widths = fit_widths(natural, self._room - 3 * len(natural) - 1)
        rows, self._held, self._widths = self._held, [], widths
        return self._draw(rows[1:], rows[0])

    def _draw(self, rows: list[list[Text]], header: list[Text] | None = None) -> list[list[Segment]]:
        table = Table(
            box=box.SQUARE,
            show_header=header is not None,
            header_style="markdown.table_header",
            border_style="markdown.table_border",
        )
        for at, (width, alignment) in enumerate(zip(self._widths, self._alignments, strict=True)):
            justify = cast("Literal['left', 'center', 'right']", alignment)
            title = header[at] if header else ""
            table.add_column(title, width=width, justify=justify, overflow="fold")
        for row in rows:
            table.add_row(*row)
        options = self._console.options.update_width(sum(self._widths) + 3 * len(self._widths) + 1)
        lines = self._console.render_lines(table, options, pad=False)
        self._bottom = lines.pop()
        return lines


def has_room(columns: int, room: int) -> bool:
    """Whether that many columns of a table fit."""
    return _NARROWEST_COLUMN * columns + 1 <= room


def fit_widths(natural: list[int], room: int) -> list[int]:
    """Return widths that fit: narrow columns keep theirs, wide ones share the rest."""
    fitted = [1] * len(natural)
    for done, column in enumerate(sorted(range(len(natural)), key=natural.__getitem__)):
        fitted[column] = max(1, min(natural[column], room // (len(natural) - done)))
        room -= fitted[column]
    return fitted
