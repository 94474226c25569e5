"""Python source as a tree that knows its bytes. A line ends at `\\n` only, whatever Python's own reader thinks."""

import ast
import codecs
import re
from bisect import bisect_right
from functools import cached_property
from typing import NoReturn
from warnings import catch_warnings

from marid.core.errors import BadInput, Exhausted

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_PYTHON_LINE_END = re.compile(rb"\r\n?|\n")
_LONE_CR = re.compile(rb"\r(?!\n)")
_TO_COLON = re.compile(rb"(?:#[^\r\n]*|[^:#])*:")
_TOO_DEEP = ("too many nested parentheses", "parser stack overflow", "too complex")


class PythonSource:
    """A file that parses. `code` is its text as UTF-8, without a byte-order mark."""

    def __init__(self, code: bytes, tree: ast.Module) -> None:
        self.code = code
        self.tree = tree

    @cached_property
    def row_starts(self) -> list[int]:
        """Where each line begins, by Python's count, to which a lone carriage return ends a line too."""
        return [0, *(end.end() for end in _PYTHON_LINE_END.finditer(self.code))]

    @cached_property
    def _newlines(self) -> list[int] | None:
        """Where lines end by our count; None when both counts agree."""
        if not _LONE_CR.search(self.code):
            return None
        return [at.start() for at in re.finditer(rb"\n", self.code)]

    def line_number(self, row: int) -> int:
        """The line, by our count, of a row of the tree."""
        return row if self._newlines is None else bisect_right(self._newlines, self.row_starts[row - 1] - 1) + 1

    def start(self, node: ast.stmt | ast.expr) -> int:
        """The offset of the first byte of a node, decorators left out."""
        return self.row_starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt | ast.expr) -> int:
        """The offset behind the last byte of a node."""
        return self.row_starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def text(self, start: int, end: int) -> str:
        """What stands between two offsets."""
        return self.code[start:end].decode()

    def start_with_decorators(self, node: ast.stmt) -> int:
        """The offset of the first byte of a statement, its decorators included."""
        decorators: list[ast.expr] | None = getattr(node, "decorator_list", None)
        return self.code.rfind(b"@", 0, self.start(decorators[0])) if decorators else self.start(node)

    def row_start(self, at: int) -> int:
        """Where the line begins that holds an offset."""
        return self.row_starts[bisect_right(self.row_starts, at) - 1]

    def line_span(self, node: ast.stmt) -> tuple[int, int]:
        """First and last line of a statement, decorators included."""
        row = node.lineno
        if getattr(node, "decorator_list", None):
            row = bisect_right(self.row_starts, self.start_with_decorators(node))
        return self.line_number(row), self.line_number(node.end_lineno or node.lineno)

    def header_end(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
        """The offset behind the colon that ends a signature."""
        begin = self.start(node)
        known = [self.end(part) for part in _header_expressions(node)]
        found = _TO_COLON.match(self.code, max([begin, *known]))
        return found.end() if found else begin

    def signature(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
        """From `def` or `class` up to the colon, which is left out, on one line and without comments."""
        words = self.text(self.start(node), self.header_end(node) - 1).strip()
        return _join_lines(_without_comments(words) if "#" in words else words)


def _header_expressions(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    """The expressions of a signature; whatever follows the last one holds no colon but the one that ends it."""
    parts: list[ast.expr] = [*getattr(node, "type_params", [])]
    if isinstance(node, ast.ClassDef):
        return [*parts, *node.bases, *(keyword.value for keyword in node.keywords)]
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    parts += [part for part in (*given.defaults, *given.kw_defaults, node.returns) if part]
    return parts + [arg.annotation for arg in every if arg and arg.annotation]


def _without_comments(words: str) -> str:
    from io import StringIO
    from tokenize import COMMENT, generate_tokens  # imported when used: few signatures hold comments

    rows = words.split("\n")
    for token in generate_tokens(StringIO(words).readline):
        if token.type == COMMENT:
            row, column = token.start
            rows[row - 1] = rows[row - 1][:column].rstrip()
    return "\n".join(rows)


def _join_lines(words: str) -> str:
    """Line breaks go, and the spaces around them; a comma before a closing bracket too."""
    words = re.sub(r"([(\[])\s*\n\s*", r"\1", words)
    words = re.sub(r",?\s*\n\s*([)\]])", r"\1", words)
    return re.sub(r"[ \t]*\\?\r?\n\s*", " ", words)


def read_source(data: bytes) -> PythonSource:
    """The tree of a file.

    Raises:
        BadInput: it does not parse; the message begins with `line N`.
        Exhausted: it is nested too deeply for the parser.
    """
    text = decode_source(data)
    if "\0" in text:
        raise BadInput(f"line {text.count(chr(10), 0, text.index(chr(0))) + 1}: a null byte: is this a binary file?")
    try:
        code = text.encode()
    except UnicodeEncodeError as error:
        raise BadInput("line 1: holds characters that no text has") from error
    return PythonSource(code, _parse_tree(text, code))


def decode_source(data: bytes) -> str:
    """The text of a file, in the encoding that its mark or its first lines declare, else UTF-8. Raises: BadInput."""
    marked = data.startswith(codecs.BOM_UTF8)
    data = data[len(codecs.BOM_UTF8) :] if marked else data
    name = _declared_encoding(data)
    if marked and name and name.lower().replace("_", "-") not in ("utf-8", "utf8"):
        raise BadInput(f"line 1: declared as {name}, but it begins with the mark of UTF-8")
    try:
        return data.decode(name or "utf-8")
    except LookupError as error:
        raise BadInput(f"line 1: the declared encoding '{name}' is not known") from error
    except UnicodeError as error:
        line = data.count(b"\n", 0, getattr(error, "start", 0)) + 1
        hint = f"not valid {name}" if name else "not UTF-8, and no other encoding is declared"
        raise BadInput(f"line {line}: {hint}") from error


def _declared_encoding(data: bytes) -> str:
    for line in data.split(b"\n", 2)[:2]:
        if found := _COOKIE.match(line):
            return found.group(1).decode()
        if not _BLANK.match(line.rstrip(b"\r")):
            break
    return ""


def _parse_tree(text: str, code: bytes) -> ast.Module:
    try:
        with catch_warnings(action="ignore"):
            return ast.parse(text)
    except SyntaxError as error:
        _raise_syntax_error(error, code)
    except (MemoryError, RecursionError) as error:
        raise Exhausted("nested too deeply or too large for Python's parser") from error
    except (ValueError, OverflowError) as error:
        raise BadInput(f"line 1: {error}") from error


def _raise_syntax_error(error: SyntaxError, code: bytes) -> NoReturn:
    message = error.msg or "invalid syntax"
    if any(words in message for words in _TOO_DEEP):
        raise Exhausted(f"nested too deeply for Python's parser ({message})") from error
    row = max(error.lineno or 1, 1)
    source = PythonSource(code, ast.Module(body=[], type_ignores=[]))
    line = source.line_number(min(row, len(source.row_starts)))
    column = f", column {error.offset}" if error.offset and error.offset > 0 else ""
    raise BadInput(f"line {line}{column}: {message}") from error
