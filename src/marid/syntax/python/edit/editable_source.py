"""A Python file as text that can be parsed, cut into rows and written back byte for byte."""

import ast
import io
import re
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from marid.core.errors import BadInput, Exhausted

_BOM = b"\xef\xbb\xbf"
# Python ends a line also at a lone "\r", and so do the positions in its trees.
_ENDING = re.compile(r"\r\n?|\n")
_LEADING = re.compile(r"[ \t\f]*")


@dataclass(frozen=True, kw_only=True)
class EditableSource:
    """The text of a file, and what it takes to make its bytes again. A row is a line as Python ends it, from 0."""

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""

    @cached_property
    def row_starts(self) -> list[int]:
        """Where each row starts, and behind the last one where the text ends."""
        starts = [0, *(match.end() for match in _ENDING.finditer(self.text))]
        return starts if starts[-1] == len(self.text) else [*starts, len(self.text)]

    @cached_property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(self.row_starts) - 1

    @cached_property
    def line_ending(self) -> str:
        """The line ending that most rows have."""
        return commonest_line_ending(self.text) or "\n"

    def row(self, index: int) -> str:
        """One row with its ending."""
        return self.text[self.row_starts[index] : self.row_starts[index + 1]]

    def rows(self, first: int, end: int) -> str:
        """The text of some rows, `end` not included."""
        return self.text[self.row_starts[first] : self.row_starts[end]]

    def is_blank(self, index: int) -> bool:
        """Whether a row is there and holds nothing but white space."""
        return 0 <= index < self.row_count and not self.row(index).strip()

    def indent(self, index: int) -> str:
        """The white space that a row starts with; a form feed starts the count anew."""
        return leading_space(self.row(index)).rpartition("\f")[2]

    def offset(self, lineno: int, column: int) -> int:
        """The place in the text of a position in a tree, whose columns are bytes of UTF-8."""
        start = self.row_starts[lineno - 1]
        if self.text.isascii():
            return start + column
        return start + len(self.row(lineno - 1).encode()[:column].decode())

    def line_number(self, offset: int) -> int:
        """The number of the line, from 1 and ended by `\\n` only, that holds a place in the text."""
        return self.text.count("\n", 0, offset) + 1

    def encode(self, text: str) -> bytes:
        """Another text as bytes of the same form. Raises: BadInput if it cannot be, or would be read otherwise."""
        try:
            data = self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            char = error.object[error.start].encode("unicode_escape").decode()
            raise BadInput(f"the character {char} cannot be written in {self.encoding}, the file's encoding") from error
        again = read_source(data)
        if (again.text, again.encoding, again.bom) != (text, self.encoding, self.bom):
            raise BadInput("the change would make or unmake the line that declares the file's encoding")
        return data


def leading_space(row: str) -> str:
    """The white space at the start of a row."""
    match = _LEADING.match(row)
    return match.group() if match else ""


def commonest_line_ending(text: str) -> str | None:
    """The commonest line ending of a text; None for a text of one line."""
    if "\r" not in text:
        return "\n" if "\n" in text else None
    return Counter(_ENDING.findall(text)).most_common(1)[0][0]


def normalize_newlines(text: str) -> str:
    """The text with `\\n` for every line ending, as Python itself reads it."""
    return _ENDING.sub("\n", text) if "\r" in text else text


def read_source(data: bytes) -> EditableSource:
    """The file that these bytes are, in the encoding that Python would read it in. Raises: BadInput."""
    mark = _BOM if data.startswith(_BOM) else b""
    encoding = _encoding(data)
    body = data[len(mark) :]
    try:
        text = body.decode(encoding)
        same = text.encode(encoding) == body
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise BadInput(f"line {line}: these bytes are not {encoding}; a coding comment can name another") from error
    except (LookupError, ValueError) as error:
        raise BadInput(f"the coding comment names {encoding}, which is no encoding of text") from error
    if not same:
        raise BadInput(f"the file is in {encoding}, which cannot be written back as it was")
    return EditableSource(text=text, encoding=encoding, bom=mark)


def _encoding(data: bytes) -> str:
    if b"coding" not in b"".join(data.split(b"\n", 2)[:2]):
        return "utf-8"
    from tokenize import detect_encoding  # imported when used: most files declare nothing

    try:
        name, _ = detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise BadInput(f"line 1: {error.msg}") from error
    return name.removesuffix("-sig")


def parse_source(source: EditableSource) -> ast.Module:
    """The tree of a file. Raises: BadInput with the line, Exhausted for what is nested too deeply."""
    try:
        return parse_text(source.text)
    except SyntaxError as error:
        raise BadInput(f"line {_error_line(source, error)}: the file does not parse: {error.msg}") from error


def encode_checked(source: EditableSource, text: str) -> bytes:
    """The bytes of a file that is to have this text. Raises: BadInput with the line if it would not parse."""
    data = source.encode(text)
    after = EditableSource(text=text)
    try:
        parse_text(text)
    except SyntaxError as error:
        raise BadInput(f"line {_error_line(after, error)}: the result would not parse: {error.msg}") from error
    return data


def parse_text(text: str) -> ast.Module:
    """The tree of a text. Raises: SyntaxError, Exhausted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except SyntaxError:
            raise
        except ValueError as error:
            raise SyntaxError(_value_message(error)) from error
        except (RecursionError, MemoryError) as error:
            raise Exhausted("the code is nested too deeply to be parsed") from error


def _value_message(error: ValueError) -> str:
    return "it holds characters that no text file can hold" if isinstance(error, UnicodeError) else str(error)


def _error_line(source: EditableSource, error: SyntaxError) -> int:
    """Our number of the line that Python complains of; it may name the one behind the last."""
    row = min(max((error.lineno or 1) - 1, 0), max(source.row_count - 1, 0))
    return source.line_number(source.row_starts[row])
