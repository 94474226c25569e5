"""Render streamed markdown with rich: each block once, and long blocks line by line.

Imported only to render an answer: importing rich takes longer than the rest of a start.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from marid.faces.cli.view.console import EscapeGuard
from marid.faces.cli.view.markdown_code import CodePainter, LineLexer, find_lexer
from marid.faces.cli.view.markdown_text import InlineParser, TableRows, has_room, make_console

LONGEST_TEXT = 20_000  # characters that are parsed at once; a longer line or paragraph comes in several parts
_NARROWEST = 8  # columns for text, however deep the margin is
_DEEPEST_INDENT = 40
_CODE_INDENT = 4  # columns that make a line code where no paragraph is open
_BORDER = "│ "
_UNDERLINES = "═─"  # of headings of the first and the second level
_TAB = 4

_QUOTES = re.compile(r"(?:[ \t]*> ?){0,16}")
_MARKER = re.compile(r"[ \t]*([-*+]|\d{1,9}[.)])(?:[ \t]{1,4}(?=[^ \t])|[ \t]|$)")
_RULE = re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})[ \t]*(\S*)")
_HEADING = re.compile(r"[ \t]*(#{1,6})(?:[ \t]+(.*))?$")
_UNDERLINE = re.compile(r"[ \t]*(==+|--+)[ \t]*$")
_PIPE = re.compile(r"(?<!\\)\|")
_ALIGNMENT = re.compile(r":?-+:?")


class _Line(NamedTuple):
    """A line, or a part of one too long to hold; `is_rest` if another part of the line came before."""

    text: str
    is_rest: bool


class Renderer:
    """Takes text in any fragments and writes it block by block."""

    def __init__(
        self,
        write: Callable[[str], None],
        *,
        width: Callable[[], int],
        style: Mapping[str, str],
        colour: bool = True,
        lexer_of: Callable[[str], LineLexer | None] = find_lexer,
    ) -> None:
        self._guard = EscapeGuard()
        self._held = ""
        self._is_rest = False  # whether what is held continues a line of which a part was handed on
        self._page = _Page(write, width, style, colour=colour)
        self._blocks = _Blocks(self._page, lexer_of)
        self._take: Callable[[_Line], None] | None = None

    def feed(self, text: str) -> None:
        """Take more of the answer."""
        self._hand_on(text, self._blocks.add_line)

    def feed_thinking(self, text: str) -> None:
        """Take more of the reasoning, which is plain text behind a border."""
        self._hand_on(text, self._page.add_thought)

    def end(self) -> None:
        """Write what is held, and reset."""
        self._finish()
        self._page.restart()

    def _hand_on(self, text: str, take: Callable[[_Line], None]) -> None:
        if text and self._take != take:
            self._finish()
            self._take = take
        self._spread(self._guard.feed(text))

    def _finish(self) -> None:
        self._spread(self._guard.end())
        if self._take and self._held:
            self._take(_Line(self._held, self._is_rest))
        self._held, self._is_rest, self._take = "", False, None
        self._blocks.close()

    def _spread(self, text: str) -> None:
        """Hand on the lines that are complete, and the first parts of those too long to hold."""
        if self._take is None:
            return
        *lines, rest = (self._held + text).split("\n")
        for line in lines:
            end = self._cut(line, self._take)
            if end or not self._is_rest:
                self._take(_Line(end, self._is_rest))
            self._is_rest = False
        self._held = self._cut(rest, self._take)

    def _cut(self, line: str, take: Callable[[_Line], None]) -> str:
        while len(line) > LONGEST_TEXT:
            end = line.rfind(" ", 1, LONGEST_TEXT) + 1 or LONGEST_TEXT
            take(_Line(line[:end], self._is_rest))
            line, self._is_rest = line[end:], True
        return line


class _Page:
    """Writes lines, with blank ones only between others. Without colour there are no escape sequences."""

    def __init__(
        self, write: Callable[[str], None], width: Callable[[], int], style: Mapping[str, str], *, colour: bool
    ) -> None:
        self._write = write
        self._width = width
        self._gap: str | None = None
        self._has_begun = False
        self.colour = colour
        self.console = make_console(style)

    def style(self, part: str) -> Style:
        """Return the style that the settings give one part."""
        return self.console.get_style(f"markdown.{part}")

    def room(self, margin: Iterable[Segment]) -> int:
        """Return the columns left for text beside this margin."""
        return max(self._width() - sum(one.cell_length for one in margin), _NARROWEST)

    def add_line(self, segments: Iterable[Segment]) -> None:
        """Write one line at once."""
        gap = f"{self._gap}\n" if self._gap is not None and self._has_begun else ""
        self._gap, self._has_begun = None, True
        self._write(f"{gap}{self._draw(segments)}\n")

    def add_text(self, text: Text, first: list[Segment], other: list[Segment]) -> int:
        """Write text in as many lines as it needs behind its margins, and return the width of the widest."""
        widest = 0
        for line in text.wrap(self.console, self.room(other), overflow="fold"):
            line.rstrip()
            widest = max(widest, line.cell_len)
            self.add_line([*first, *line.render(self.console)])
            first = other
        return widest

    def add_thought(self, line: _Line) -> None:
        """Write a line of reasoning."""
        border = [Segment(_BORDER, self.style("think_border"))]
        if line.text.strip():
            text = Text(line.text)
            text.stylize("dim")
            self.add_text(text, border, border)
        else:
            self.leave_gap(_BORDER, "think_border")

    def leave_gap(self, border: str, part: str) -> None:
        """Write one blank line before the next line, however often this is called."""
        self._gap = self._draw([Segment(border.rstrip(), self.style(part))])

    def restart(self) -> None:
        """Treat the next line as a first one."""
        self._gap, self._has_begun = None, False

    def _draw(self, segments: Iterable[Segment]) -> str:
        system = ColorSystem.TRUECOLOR if self.colour else None
        return "".join((one.style or Style.null()).render(one.text, color_system=system) for one in segments)


class _Blocks:
    """Gathers lines into blocks. A paragraph is written when it is complete; code, items and rows as they come.

    No tree is kept: a block stands as far to the right as in the source, which shows lists inside lists as well.
    """

    def __init__(self, page: _Page, lexer_of: Callable[[str], LineLexer | None]) -> None:
        self._page = page
        self._lexer_of = lexer_of
        self._inline = InlineParser()
        self._plain = CodePainter(None, page.style("code"))
        self._paragraph: list[str] = []
        self._size = 0
        self._table: TableRows | None = None
        self._fence = ""
        self._painter = self._plain
        self._border = self._marker = ""
        self._indent = self._column = self._list_column = 0

    def add_line(self, line: _Line) -> None:
        """Take a line, or the next part of one that is too long to hold."""
        if self._fence and self._add_to_fence(line):
            return
        quotes = None if line.is_rest else _QUOTES.match(line.text)
        rest = line.text[quotes.end() :] if quotes else line.text
        border = _BORDER * quotes[0].count(">") if quotes else ""
        if not rest.strip():
            self._end_leaf()
            self._page.leave_gap(border, "blockquote_border")
        elif line.is_rest:
            self._end_leaf()
            self._add_to_paragraph(rest)
        elif border != self._border or not self._follow_leaf(rest):
            self._open_leaf(border, rest)

    def close(self) -> None:
        """Write the open block."""
        self._end_leaf()
        self._fence, self._list_column = "", 0

    def _follow_leaf(self, line: str) -> bool:
        """Take a row of an open table, or a line that turns the one above it into a heading or a table."""
        if self._table and "|" in line:
            self._write_lines(self._table.add(_split_row(line)))
            return True
        if not self._paragraph:
            return False
        if found := _UNDERLINE.match(line):
            lines, self._paragraph = self._paragraph, []
            self._write_heading(1 if found[1][0] == "=" else 2, "\n".join(lines))
            return True
        header = self._paragraph[-1]
        alignments = _parse_alignments(header, line)
        room = self._room()
        if not alignments or not has_room(len(alignments), room):
            return False
        self._paragraph.pop()
        self._end_leaf()
        self._table = TableRows(self._page.console, self._inline, alignments, room)
        self._table.add(_split_row(header))
        return True

    def _open_leaf(self, border: str, line: str) -> None:
        marker = None if _RULE.match(line) else _MARKER.match(line)
        indent = _indent_width(line)
        text = line[marker.end() :] if marker else line
        fence, heading, rule = _FENCE.match(text), _HEADING.match(text), _RULE.match(text)
        if self._table or marker or fence or heading or rule or border != self._border:
            self._end_leaf()
        if not self._paragraph:
            self._list_column = min(indent, self._list_column) if not marker else marker.end()
            self._border, self._indent = border, min(indent, _DEEPEST_INDENT)
            self._marker = f"{'•' if marker[1] in '-*+' else marker[1]} " if marker else ""
            self._column = marker.end() if marker else indent
        if fence:
            self._open_fence(fence[1], fence[2])
        elif heading:
            self._write_heading(len(heading[1]), _strip_closing(heading[2] or ""))
        elif rule:
            self._write_lines([[Segment("─" * self._room(), self._page.style("hr"))]])
        elif not text.strip():
            self._write_lines([[]])
        elif not self._paragraph and not marker and indent >= self._list_column + _CODE_INDENT:
            self._indent = self._list_column
            self._write_code(_dedent(text, self._list_column + _CODE_INDENT), self._plain)
        else:
            self._add_to_paragraph(text.lstrip())

    def _add_to_paragraph(self, line: str) -> None:
        self._size = self._size + len(line) if self._paragraph else len(line)
        self._paragraph.append(line)
        if self._size > LONGEST_TEXT:
            self._end_leaf()

    def _end_leaf(self) -> None:
        if self._paragraph:
            text = self._inline.parse("\n".join(self._paragraph).strip())
            self._paragraph = []
            self._page.add_text(text, self._margin(), self._margin())
        if self._table:
            self._write_lines(self._table.close())
            self._table = None

    def _margin(self) -> list[Segment]:
        """Return the border and indentation of a line; the list marker only the first time."""
        border = Segment(self._border, self._page.style("blockquote_border"))
        marker = Segment(" " * self._indent + self._marker, self._page.style("bullet"))
        self._indent, self._marker = self._indent + len(self._marker), ""
        return [border, marker]

    def _room(self) -> int:
        return self._page.room([Segment(self._border + " " * self._indent + self._marker)])

    def _write_lines(self, lines: Iterable[list[Segment]]) -> None:
        for line in lines:
            self._page.add_line([*self._margin(), *line])

    def _write_heading(self, level: int, source: str) -> None:
        text = self._inline.parse(source.strip())
        style = self._page.style(f"h{level}")
        text.stylize_before(style)
        widest = self._page.add_text(text, self._margin(), self._margin()) if text else 0
        if widest and level <= len(_UNDERLINES):
            self._write_lines([[Segment(_UNDERLINES[level - 1] * widest, style)]])

    def _open_fence(self, mark: str, label: str) -> None:
        lexer = self._lexer_of(label) if self._page.colour and label else None
        self._fence, self._painter = mark, CodePainter(lexer, self._page.style("code"))
        if label:
            self._write_lines([[Segment(label, self._page.style("code_label"))]])

    def _add_to_fence(self, line: _Line) -> bool:
        """Write a line of code; False if the quote around the fence, and so the fence, has ended."""
        if line.is_rest:
            self._write_code(line.text, self._painter)
            return True
        text = line.text
        for _ in range(self._border.count(_BORDER)):
            text = text.lstrip(" \t")
            if not text.startswith(">"):
                self._fence = ""
                return False
            text = text[1:].removeprefix(" ")
        bare = text.strip(" \t")
        is_close = len(bare) >= len(self._fence) and not bare.strip(self._fence[0])
        if is_close and _indent_width(text) < self._column + _CODE_INDENT:
            self._fence = ""
        else:
            self._write_code(_dedent(text, self._column), self._painter)
        return True

    def _write_code(self, line: str, painter: CodePainter) -> None:
        """Write the line unwrapped, so that it can be copied."""
        # Erase to the edge first: after the text this would erase its last character.
        edge = [Segment("\x1b[K", self._page.style("code"))] if self._page.colour else []
        self._write_lines([[*edge, *(Segment(text, style) for text, style in painter.paint(line))]])


def _indent_width(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_TAB))


def _dedent(line: str, columns: int) -> str:
    """Return the line without the blanks in its first columns."""
    at = column = 0
    while at < len(line) and column < columns and line[at] in " \t":
        column += _TAB - column % _TAB if line[at] == "\t" else 1
        at += 1
    return line[at:]


def _strip_closing(title: str) -> str:
    """Return a heading without closing `#`s."""
    bare = title.strip().rstrip("#")
    return bare if not bare or bare[-1] in " \t" else title


def _split_row(line: str) -> list[str]:
    bare = line.strip().removeprefix("|")
    cells = [cell.replace("\\|", "|").strip() for cell in _PIPE.split(bare)]
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _parse_alignments(header: str, line: str) -> list[str] | None:
    """Return the alignment of each column if the line below `header` makes both a table."""
    cells = _split_row(line) if "|" in header and "|" in line else []
    if not all(_ALIGNMENT.fullmatch(cell) for cell in cells) or len(cells) != len(_split_row(header)):
        return None
    return [("center" if cell[0] == ":" else "right") if cell[-1] == ":" else "left" for cell in cells]
