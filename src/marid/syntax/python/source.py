"""A Python file as text and tree, with positions of nodes. It can be written back byte for byte."""

import ast
import codecs
import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias
from warnings import catch_warnings

from marid.core.errors import BadInput, Exhausted

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
DefinitionNode: TypeAlias = FunctionNode | ast.ClassDef
FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITION_NODES = (*FUNCTION_NODES, ast.ClassDef)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")
# Python also ends a line at a lone "\r", and its trees count such lines.
_ROW_END = re.compile(r"\r\n?|\n")
_LONE_CR = re.compile(r"\r(?!\n)")
_LEADING = re.compile(r"[ \t\f]*")
# What can be between the last expression of a header and its colon.
_TO_COLON = re.compile(r"(?>[^#:]+|#[^\r\n]*)*+:")
_TOO_DEEP = ("too many nested parentheses", "parser stack overflow", "too complex")


class SyntaxProblem(NamedTuple):
    """A syntax error; column 0 if unknown."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        return f"line {self.line}{column}: {self.message}"


class _InvalidSource(Exception):
    def __init__(self, line: int, message: str, column: int = 0) -> None:
        super().__init__(message)
        self.problem = SyntaxProblem(line, column, message)


@dataclass(frozen=True, kw_only=True)
class PythonSource:
    """A file that parses. Rows are lines as Python ends them, from 0; lines end only at `\\n` and count from 1."""

    text: str
    tree: ast.Module
    data: bytes = b""
    encoding: str = "utf-8"

    @cached_property
    def row_starts(self) -> list[int]:
        """The offset of each row, then the length of the text."""
        return _row_starts(self.text)

    @cached_property
    def row_count(self) -> int:
        return len(self.row_starts) - 1

    @cached_property
    def _rows_are_lines(self) -> bool:
        return "\r" not in self.text or not _LONE_CR.search(self.text)

    @cached_property
    def line_ending(self) -> str:
        return commonest_line_ending(self.text) or "\n"

    def row(self, index: int) -> str:
        return self.text[self.row_starts[index] : self.row_starts[index + 1]]

    def rows(self, first: int, end: int) -> str:
        """The text of rows `first` to `end`, `end` excluded."""
        return self.text[self.row_starts[first] : self.row_starts[end]]

    def is_blank(self, index: int) -> bool:
        """Whether a row exists and holds only white space."""
        return 0 <= index < self.row_count and not self.row(index).strip()

    def blank_rows(self, index: int, step: int) -> int:
        """The number of blank rows from a row on, downwards or upwards."""
        count = 0
        while self.is_blank(index + count * step):
            count += 1
        return count

    def indent(self, index: int) -> str:
        """The white space at the start of a row; a form feed resets it."""
        return leading_space(self.row(index)).rpartition("\f")[2]

    def line_of_row(self, index: int) -> int:
        """The line that contains the start of a row."""
        return index + 1 if self._rows_are_lines else self.line_number(self.row_starts[index])

    @cached_property
    def _line_ends(self) -> list[int]:
        return [end.start() for end in re.finditer("\n", self.text)]

    def line_number(self, offset: int) -> int:
        """The line that contains an offset."""
        return bisect_left(self._line_ends, offset) + 1

    def offset(self, lineno: int, column: int) -> int:
        """The offset of a position in the tree, whose columns are bytes of UTF-8."""
        start = self.row_starts[lineno - 1]
        if self.text.isascii():
            return start + column
        return start + len(self.row(lineno - 1).encode()[:column].decode())

    def start(self, node: ast.stmt | ast.expr) -> int:
        """The offset where a node starts, without decorators."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.stmt | ast.expr | ast.arg | ast.keyword) -> int:
        """The offset where a node ends."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def node_line(self, node: ast.stmt | ast.expr) -> str:
        """The text of a node on one line."""
        return " ".join(self.text[self.start(node) : self.end(node)].split())

    def first_row(self, node: ast.stmt) -> int:
        """The first row of a statement: that of the `@` of its first decorator, which may be above the decorator."""
        decorators: list[ast.expr] | None = getattr(node, "decorator_list", None)
        if not decorators:
            return node.lineno - 1
        row = decorators[0].lineno - 1
        while not self.row(row).lstrip(" \t\f").startswith("@"):
            row -= 1
        return row

    def row_span(self, node: ast.stmt) -> tuple[int, int]:
        """The first row of a statement, decorators included, and the row after its last."""
        return self.first_row(node), node.end_lineno or node.lineno

    def line_span(self, node: ast.stmt) -> tuple[int, int]:
        """The first and last line of a statement, decorators included."""
        first, end = self.row_span(node)
        return self.line_of_row(first), self.line_of_row(end - 1)

    def line_label(self, node: ast.stmt) -> str:
        """The lines of a statement, as views show them."""
        first, last = self.line_span(node)
        return f"(Lines {first}-{last})"

    def start_with_decorators(self, node: ast.stmt) -> int:
        """The offset where a statement starts, decorators included."""
        decorated = getattr(node, "decorator_list", None)
        return self.text.index("@", self.row_starts[self.first_row(node)]) if decorated else self.start(node)

    def header_span(self, node: DefinitionNode) -> tuple[int, int]:
        """Where a definition's header starts (at its keyword) and ends (after its colon)."""
        start = self.start(node)
        last = max((self.end(part) for part in _header_parts(node)), default=start)
        match = _TO_COLON.match(self.text, last)
        return start, match.end() if match else last

    def signature(self, node: DefinitionNode) -> str:
        """The header on one line, without colon, comments and a comma before a closing bracket."""
        start, end = self.header_span(node)
        text = self.text[start : end - 1].strip()
        text = re.sub(r"([(\[])\s*\n\s*", r"\1", _without_comments(text) if "#" in text else text)
        text = re.sub(r",?\s*\n\s*([)\]])", r"\1", text)
        return re.sub(r"[ \t]*\\?\r?\n\s*", " ", text)

    def encode(self, text: str) -> bytes:
        """The bytes of the file with another text. Raises: BadInput if that does not parse or other bytes change."""
        mark = codecs.BOM_UTF8 if self.data.startswith(codecs.BOM_UTF8) else b""
        if mark + self.text.encode(self.encoding) != self.data:
            raise BadInput(f"the file is in {self.encoding}, which cannot be written back unchanged")
        try:
            data = mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            char = error.object[error.start].encode("unicode_escape").decode()
            raise BadInput(f"the file's encoding {self.encoding} cannot encode {char}") from error
        try:
            if _decode(data) != (text, self.encoding):
                raise BadInput("the change would add or remove the declaration of the file's encoding")
            _parse_file(text)
        except _InvalidSource as error:
            raise BadInput(f"the result would not parse: {error.problem}") from error
        return data


def _header_parts(node: DefinitionNode) -> list[ast.expr | ast.arg | ast.keyword]:
    """The expressions of a header: the next colon after the last one ends the header."""
    parts: list[ast.expr | ast.arg | ast.keyword | None] = list(getattr(node, "type_params", ()))  # since Python 3.12
    if isinstance(node, ast.ClassDef):
        parts += [*node.bases, *node.keywords]
    else:
        given = node.args
        parts += [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
        parts += [*given.defaults, *given.kw_defaults, node.returns]
    return [part for part in parts if part is not None]


def _without_comments(text: str) -> str:
    from io import StringIO
    from tokenize import COMMENT, generate_tokens  # imported on use: few signatures contain comments

    rows = text.split("\n")
    for token in generate_tokens(StringIO(text).readline):
        if token.type == COMMENT:
            row, column = token.start
            rows[row - 1] = rows[row - 1][:column].rstrip()
    return "\n".join(rows)


def _row_starts(text: str) -> list[int]:
    starts = [0, *(match.end() for match in _ROW_END.finditer(text))]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def leading_space(row: str) -> str:
    """The white space at the start of a row."""
    match = _LEADING.match(row)
    return match.group() if match else ""


def commonest_line_ending(text: str) -> str | None:
    """The commonest line ending of a text; None for one line."""
    if "\r" not in text:
        return "\n" if "\n" in text else None
    return Counter(_ROW_END.findall(text)).most_common(1)[0][0]


def normalize_newlines(text: str) -> str:
    """The text with `\\n` for every line ending, as Python reads it."""
    return _ROW_END.sub("\n", text) if "\r" in text else text


def read_source(data: bytes) -> PythonSource:
    """Decode and parse a file. Raises: BadInput that starts with `line N`, Exhausted if it is nested too deeply."""
    try:
        return _load(data)
    except _InvalidSource as error:
        raise BadInput(str(error.problem)) from error


def py_syntax_problem(data: bytes) -> SyntaxProblem | None:
    """The first syntax error of a file, or None. Raises: Exhausted."""
    try:
        _load(data)
    except _InvalidSource as error:
        return error.problem
    return None


def _load(data: bytes) -> PythonSource:
    text, encoding = _decode(data)
    return PythonSource(text=text, tree=_parse_file(text), data=data, encoding=encoding)


def _decode(data: bytes) -> tuple[str, str]:
    """The text of a file, and the encoding that its byte-order mark or first lines declare, by default UTF-8."""
    marked = data.startswith(codecs.BOM_UTF8)
    data = data.removeprefix(codecs.BOM_UTF8)
    name = _declared_encoding(data)
    normal = name.lower().replace("_", "-")
    is_utf8 = not name or normal in ("utf-8", "utf8") or normal.startswith("utf-8-")
    if marked and not is_utf8:
        raise _InvalidSource(1, f"declared as {name}, but starts with the byte-order mark of UTF-8")
    encoding = "utf-8" if is_utf8 else name
    try:
        return data.decode(encoding), encoding
    except LookupError as error:
        raise _InvalidSource(1, f"unknown encoding '{name}'") from error
    except UnicodeError as error:
        line = data.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise _InvalidSource(line, f"not valid {name}" if name else "not UTF-8, and no encoding is declared") from error


def _declared_encoding(data: bytes) -> str:
    for line in data.split(b"\n", 2)[:2]:
        if found := _COOKIE.match(line):
            return found.group(1).decode()
        if not _BLANK.match(line.rstrip(b"\r")):
            break
    return ""


def _parse_file(text: str) -> ast.Module:
    if "\0" in text:
        raise _InvalidSource(text.count("\n", 0, text.index("\0")) + 1, "null byte: is this a binary file?")
    try:
        return parse_text(text)
    except SyntaxError as error:
        starts = _row_starts(text)
        row = min(max(error.lineno or 1, 1), max(len(starts) - 1, 1))  # Python may report the row after the last
        line = text.count("\n", 0, starts[row - 1]) + 1
        raise _InvalidSource(line, error.msg, max(error.offset or 0, 0)) from error


def parse_text(text: str) -> ast.Module:
    """The tree of a text. Raises: SyntaxError, Exhausted."""
    try:
        with catch_warnings(action="ignore"):
            return ast.parse(text)
    except SyntaxError as error:
        if any(reason in error.msg for reason in _TOO_DEEP):
            raise Exhausted(f"nested too deeply for Python's parser ({error.msg})") from error
        raise
    except (MemoryError, RecursionError) as error:
        raise Exhausted("nested too deeply or too large for Python's parser") from error
    except UnicodeError as error:
        raise SyntaxError("contains characters that no text file can contain") from error
    except (ValueError, OverflowError) as error:
        raise SyntaxError(str(error)) from error
