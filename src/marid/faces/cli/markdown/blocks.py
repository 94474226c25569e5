"""The lines of a text, one after the other: each is told apart by its start and written by its kind."""

from dataclasses import replace

from marid.faces.cli.markdown.code import Code, Fence, fence_of
from marid.faces.cli.markdown.ink import Ink, Margin, Piece
from marid.faces.cli.markdown.margins import margins
from marid.faces.cli.markdown.paragraph import Paragraph
from marid.faces.cli.markdown.spans import Spans
from marid.faces.cli.markdown.starts import LONGEST_START, Container, Kind, Start, dedented, read_start
from marid.faces.cli.markdown.style import Style, foreground
from marid.faces.cli.markdown.tables import alignments, table_lines

LONGEST_LINE = 100_000  # characters of a heading, a fence or a row, which are held until their line ends
LONGEST_CODE = 1_000_000  # characters of a line of code; longer ones are written in parts
LARGEST_TABLE = 1_000_000

_UNDERLINES = {1: "═", 2: "─"}
_INDENT = 4


class Blocks:
    """Takes lines in fragments. `end_line` after each line, `end` after all."""

    def __init__(self, ink: Ink, style: Style) -> None:
        self._ink = ink
        self._style = style
        self._paragraph = Paragraph(ink)
        self._spans = Spans(self._paragraph.put, style)
        self._code = Code(ink, style)
        self._reset()

    def _reset(self) -> None:
        self._before = Kind.BLANK
        self._containers: tuple[Container, ...] = ()
        self._first: Margin = ()
        self._rest: Margin = ()
        self._fence: Fence | None = None
        self._rows: list[str] = []
        self._row_count = 0
        self._row_margins: tuple[Margin, Margin] = ((), ())
        self._next()

    def _next(self) -> None:
        """Ready for a new line."""
        self._start: Start | None = None
        self._held: list[str] = []
        self._count = 0

    def feed(self, text: str) -> None:
        """More of the line; no line end in it."""
        place = 0
        while place < len(text):
            if self._start and self._start.kind is Kind.TEXT:
                self._spans.feed(text[place:])
                return
            limit = self._limit()
            piece = text[place : place + limit - self._count]
            place += len(piece)
            self._held.append(piece)
            self._count += len(piece)
            if not self._start and not self._fence:
                self._begin(complete=False)
            elif self._count == limit:
                self._overflow()

    def end_line(self) -> None:
        """The line is over."""
        if self._fence:
            self._end_code_line(self._fence)
        else:
            if not self._start:
                self._begin(complete=True)
            if self._start:
                self._end(self._start)
        self._next()

    def end(self) -> None:
        """The text is over, perhaps in the middle of a line."""
        if self._start or self._count or self._code.is_partial:
            self.end_line()
        self._end_table()
        self._reset()

    def _limit(self) -> int:
        if self._fence or (self._start and self._start.kind is Kind.CODE):
            return LONGEST_CODE
        return LONGEST_LINE if self._start else LONGEST_START

    def _begin(self, *, complete: bool) -> None:
        """Tell what kind of line it is, if it can be told yet."""
        text = "".join(self._held)
        self._held = [text]
        start = read_start(text, self._containers, self._before, complete=complete)
        if not start:
            return
        if start.kind is Kind.BLANK and not complete:
            start = replace(start, kind=Kind.TEXT)  # nothing but blanks so far, and too many to wait longer
        if start.kind is not Kind.ROW or start.containers != self._containers or start.fresh < len(start.containers):
            self._end_table()
        self._start = start
        self._containers = start.containers
        self._first, self._rest = margins(start.containers, start.fresh, self._style)
        self._held = [text[start.at :]]
        self._count = len(self._held[0])
        if start.kind is Kind.TEXT:
            self._open_text()

    def _open_text(self) -> None:
        self._paragraph.open(self._first, self._rest)
        self._spans.feed("".join(self._held))
        self._held, self._count = [], 0

    def _overflow(self) -> None:
        """The line is too long to be held: write what there is of it."""
        text = "".join(self._held)
        self._held, self._count = [], 0
        if self._fence:
            self._overflow_code(self._fence, text)
        elif self._start and self._start.kind is Kind.CODE:
            self._code.part(self._first, text if self._code.is_partial else dedented(text, _INDENT))
        elif self._start:
            self._end_table()
            self._start = replace(self._start, kind=Kind.TEXT)
            self._held = [text]
            self._open_text()

    def _overflow_code(self, fence: Fence, text: str) -> None:
        if self._code.is_partial:
            self._code.part(self._rest, text)
        elif (inner := fence.inner(text)) is not None:
            self._code.part(self._rest, fence.exact(inner))
        else:
            self._fence = None
            self.feed(text)

    def _end_code_line(self, fence: Fence) -> None:
        text = "".join(self._held)
        inner = text if self._code.is_partial else fence.inner(text)
        if self._code.is_partial:
            self._code.line(self._rest, text)
        elif inner is None:
            self._fence = None
            self.end_line()
        elif fence.is_closed_by(inner):
            self._fence = None
        else:
            self._code.line(self._rest, fence.exact(inner))

    def _end(self, start: Start) -> None:
        self._before = start.kind
        text = "".join(self._held)
        match start.kind:
            case Kind.TEXT:
                self._end_text()
            case Kind.BLANK:
                self._ink.gap(self._rest)
            case Kind.RULE:
                self._line(self._first, [("─" * self._ink.room(self._first), foreground(self._style.hr))])
            case Kind.HEADING:
                self._heading(text)
            case Kind.FENCE:
                self._open_fence(start, text)
            case Kind.ROW:
                self._row(text)
            case Kind.CODE:
                self._code.line(self._first, text if self._code.is_partial else dedented(text, _INDENT))

    def _end_text(self) -> None:
        self._spans.end()
        if not self._paragraph.close(kept=self._first != self._rest):
            self._ink.gap(self._rest)
            self._before = Kind.BLANK

    def _text_line(self, first: Margin, rest: Margin, text: str, look: str = "") -> None:
        self._paragraph.open(first, rest, look=look)
        self._spans.feed(text)
        self._spans.end()
        self._paragraph.close(kept=first != rest)

    def _line(self, margin: Margin, pieces: list[Piece]) -> None:
        self._ink.start(margin)
        for piece in pieces:
            self._ink.add(*piece)
        self._ink.stop()

    def _heading(self, text: str) -> None:
        level = len(text) - len(text.lstrip("#"))
        title = text[level:].strip()
        bare = title.rstrip("#")
        if not bare or bare[-1] in " \t":
            title = bare.rstrip()
        look = f"1;{foreground(self._style.heading(level))}"
        self._text_line(self._first, self._rest, title, look)
        if level in _UNDERLINES and self._paragraph.widest:
            long = min(self._paragraph.widest, self._ink.room(self._rest))
            self._line(self._rest, [(_UNDERLINES[level] * long, look)])

    def _open_fence(self, start: Start, text: str) -> None:
        self._fence = fence_of(text, start.column, start.containers)
        if not self._fence:
            self._text_line(self._first, self._rest, text)
        elif self._fence.label or self._first != self._rest:
            self._code.label(self._first, self._fence.label)

    def _row(self, text: str) -> None:
        if not self._rows:
            self._row_margins = self._first, self._rest
        self._rows.append(text)
        self._row_count += len(text)
        if len(self._rows) == 2 and alignments(*self._rows) is None:
            self._text_line(*self._row_margins, self._rows.pop(0))
            self._row_margins = self._rest, self._rest
        if self._row_count > LARGEST_TABLE:
            self._end_table()

    def _end_table(self) -> None:
        rows, self._rows, self._row_count = self._rows, [], 0
        if not rows:
            return
        first, rest = self._row_margins
        lines = table_lines(rows, self._ink.room(first), self._style) if len(rows) > 1 else None
        for line in lines or ():
            self._line(first, line)
            first = rest
        for row in () if lines else rows:
            self._text_line(first, rest, row)
            first = rest
