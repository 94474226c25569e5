"""Colour code line by line as it streams; the lexer keeps its state between lines."""

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

# Constructs that many lexers match with one expression, so that their state does not show an open one.
_PAIRS = (("/*", "*/"), ("<!--", "-->"), ('"""', '"""'), ("'''", "'''"), ("`", "`"))

Piece = tuple[_TokenType, str]


class LineLexer:
    """A pygments lexer that takes one line at a time and keeps what is open at its end."""

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        self._stack = ["root"]
        self._closer = ""
        self._open_type: _TokenType = Token

    def split(self, line: str) -> list[Piece]:
        """Return the pieces of a line with their types; joined they are the line."""
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
            # It is open if, with the closer added on a next line, one piece spans both.
            closed, after = self.lex(f"{line}\n{closer}", before)
            kind, part = closed[-1] if closed else (Token, "")
            if (kind in Comment or kind in String) and part.startswith(opener) and part.endswith(f"\n{closer}"):
                self._stack, self._closer, self._open_type = after, closer, kind
                return closed
        return pieces

    def lex(self, text: str, stack: list[str]) -> tuple[list[Piece], list[str]]:
        """Return the pieces of `text`, lexed from the states in `stack`, and the states after it."""
        context = LexerContext(text, 0, stack=[*stack])
        if isinstance(self._lexer, RegexLexer):
            try:
                # The only pygments lexer that returns its states; it works with the tables of any RegexLexer.
                found = ExtendedRegexLexer.get_tokens_unprocessed(self._lexer, context=context)  # pyright: ignore[reportArgumentType]
                return [(kind, part) for _, kind, part in found], context.stack
            except (TypeError, ValueError, LookupError, AttributeError, RecursionError):
                pass  # Some lexers have rules that do not take a context.
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
    """Colours a block of code with the terminal's palette, on the background of the settings."""

    def __init__(self, lexer: LineLexer | None, ground: Style) -> None:
        self._lexer = lexer
        self._ground = ground
        is_light = ground.bgcolor is not None and not is_dark(ground.bgcolor)
        self._theme = ANSISyntaxTheme(RICH_SYNTAX_THEMES["ansi_light" if is_light else "ansi_dark"])

    def paint(self, line: str) -> Iterator[tuple[str, Style]]:
        """Yield the line in pieces, each with its style."""
        for kind, part in self._lexer.split(line) if self._lexer else [(Token, line)]:
            # A lexer takes half a construct for an error; do not mark it.
            style = Style.null() if kind in Error else self._theme.get_style_for_token(kind)
            yield part, self._ground + style


def _fit(pieces: list[Piece], line: str) -> list[Piece]:
    """Cut what was added after the line; without pieces if the lexer lost or changed text."""
    fitted: list[Piece] = []
    room = len(line)
    for kind, part in pieces:
        if room and part:
            fitted.append((kind, part[:room]))
            room -= len(fitted[-1][1])
    return fitted if "".join(part for _, part in fitted) == line else [(Token, line)]
