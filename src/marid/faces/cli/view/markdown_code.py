"""Code coloured line by line as it streams: the lexer goes on where the line before left it, and never starts over."""

from collections.abc import Iterator

from pygments.lexer import ExtendedRegexLexer, Lexer, LexerContext, RegexLexer
from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]
from pygments.token import Comment, Error, String, Token, _TokenType  # pyright: ignore[reportPrivateUsage]
from pygments.util import ClassNotFound
from rich.style import Style
from rich.syntax import RICH_SYNTAX_THEMES, ANSISyntaxTheme

from marid.faces.cli.view.markdown_text import is_dark

LONGEST_LINE = 2_000  # characters that a lexer is given at once: its expressions may be slow on a hostile line
_DEEPEST = 200  # states inside each other; only nonsense has more

# What many lexers match by one expression from beginning to end, so that no state says that it is open.
_PAIRS = (("/*", "*/"), ("<!--", "-->"), ('"""', '"""'), ("'''", "'''"), ("`", "`"))

Piece = tuple[_TokenType, str]


class LineLexer:
    """A lexer of pygments that takes one line at a time. What is open at the end of a line is open in the next."""

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        self._stack = ["root"]
        self._closer = ""
        self._open_type: _TokenType = Token

    def split(self, line: str) -> list[Piece]:
        """Return the pieces of a line with their types; together they are the line."""
        head: list[Piece] = []
        if self._closer:
            end = line.find(self._closer)
            if end < 0:
                return [(self._open_type, line)]
            end += len(self._closer)
            head, line = [(self._open_type, line[:end])], line[end:]
            self._closer = ""
        if len(line) > LONGEST_LINE:
            return [*head, (Token, line)]
        return [*head, *_fit(self._split_rest(line), line)]

    def _split_rest(self, line: str) -> list[Piece]:
        before = self._stack
        pieces, after = self.lex(f"{line}\n", before)
        self._stack = after if len(after) <= _DEEPEST else ["root"]
        for opener, closer in _PAIRS:
            last = line.rfind(opener)
            is_even = opener == closer and line.count(opener) % 2 == 0
            if last < 0 or is_even or (opener != closer and closer in line[last:]):
                continue
            # If it is open, the same text with an end in the next line has one piece that reaches from here to there.
            closed, after = self.lex(f"{line}\n{closer}", before)
            kind, part = closed[-1] if closed else (Token, "")
            if (kind in Comment or kind in String) and part.startswith(opener) and part.endswith(f"\n{closer}"):
                self._stack, self._closer, self._open_type = after, closer, kind
                return closed
        return pieces

    def lex(self, text: str, stack: list[str]) -> tuple[list[Piece], list[str]]:
        """Return the pieces of `text` read from these states on, and the states after it."""
        context = LexerContext(text, 0, stack=[*stack])
        if isinstance(self._lexer, RegexLexer):
            try:
                # The one reader of pygments that gives its states back; it works on the tables of any RegexLexer.
                found = ExtendedRegexLexer.get_tokens_unprocessed(self._lexer, context=context)  # pyright: ignore[reportArgumentType]
                return [(kind, part) for _, kind, part in found], context.stack
            except (TypeError, ValueError, LookupError, AttributeError, RecursionError):
                pass  # Some lexers have rules that know no context.
        try:
            return [(kind, part) for _, kind, part in self._lexer.get_tokens_unprocessed(text)], stack
        except (TypeError, ValueError, LookupError, AttributeError, RecursionError):
            return [(Token, text)], stack


def find_lexer(label: str) -> LineLexer | None:
    """Return a lexer for the language that a fence names."""
    try:
        return LineLexer(get_lexer_by_name(label)) if label else None
    except (ClassNotFound, ValueError):
        return None


class CodePainter:
    """The colours of one block of code, of the terminal's own palette, on the background of the settings."""

    def __init__(self, lexer: LineLexer | None, ground: Style) -> None:
        self._lexer = lexer
        self._ground = ground
        is_light = ground.bgcolor is not None and not is_dark(ground.bgcolor)
        self._theme = ANSISyntaxTheme(RICH_SYNTAX_THEMES["ansi_light" if is_light else "ansi_dark"])

    def paint(self, line: str) -> Iterator[tuple[str, Style]]:
        """Yield the line in pieces, each with its style."""
        for kind, part in self._lexer.split(line) if self._lexer else [(Token, line)]:
            # Half a construct looks like an error to a lexer, which is no reason to mark it.
            style = Style.null() if kind in Error else self._theme.get_style_for_token(kind)
            yield part, self._ground + style


def _fit(pieces: list[Piece], line: str) -> list[Piece]:
    """Cut what was added behind the line; a lexer that lost or changed a part of it is not believed."""
    fitted: list[Piece] = []
    room = len(line)
    for kind, part in pieces:
        if room and part:
            fitted.append((kind, part[:room]))
            room -= len(fitted[-1][1])
    return fitted if "".join(part for _, part in fitted) == line else [(Token, line)]
