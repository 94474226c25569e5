"""Text files as bytes: decode and encode them, count and number their lines."""

import codecs
from typing import NamedTuple

from marid.core.errors import BadInput

# As git: a NUL this early makes a file binary.
SNIFF_BYTES = 8192
_CHUNK = 1 << 20
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
WIDE_BOMS = tuple(mark for mark, codec in _BOMS if codec != "utf-8")


class DecodedText(NamedTuple):
    """The text after the byte-order mark, and how to write it back."""

    text: str
    codec: str
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """`text` in the same encoding, after the same mark. Raises as `encode_text`."""
        return self.bom + encode_text(text, self.codec)


def encode_text(text: str, codec: str = "utf-8") -> bytes:
    """The bytes of `text`. Raises: BadInput with the first character that the encoding lacks, and its line."""
    try:
        return text.encode(codec)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        char = f"U+{ord(text[error.start]):04X}"
        if "\ud800" <= text[error.start] <= "\udfff":
            raise BadInput(f"line {line} of the new text contains half a character ({char})") from error
        raise BadInput(f"line {line} of the new text contains {char}, which {codec} cannot encode") from error


def is_binary(head: bytes) -> bool:
    """Whether a file that starts like this is not text."""
    return head.find(b"\0", 0, SNIFF_BYTES) >= 0 and not head.startswith(WIDE_BOMS)


def decode_text(data: bytes) -> DecodedText | None:
    """The text of a file; None for a binary file."""
    for mark, codec in _BOMS:
        if data.startswith(mark):
            text = _try_decode(data[len(mark) :], codec)
            if text is not None:
                return DecodedText(text, codec, mark)
            if codec != "utf-8":
                return None
    if is_binary(data):
        return None
    for codec in ("utf-8", "cp1252"):
        if (text := _try_decode(data, codec)) is not None:
            return DecodedText(text, codec)
    return DecodedText(data.decode("latin-1"), "latin-1")


def _try_decode(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def to_utf8(data: bytes) -> tuple[bytes, str] | None:
    """The text as UTF-8 and its encoding; the same object if it was UTF-8; None for a binary file."""
    if not data.startswith(WIDE_BOMS):
        if data.find(b"\0", 0, SNIFF_BYTES) >= 0:
            return None
        if data.isascii() or _is_utf8(data):
            return data, "utf-8"
    found = decode_text(data)
    return (found.text.encode(), found.codec.removesuffix("-le").removesuffix("-be")) if found else None


def _is_utf8(data: bytes) -> bool:
    if len(data) <= _CHUNK:
        return _try_decode(data, "utf-8") is not None
    # Piecewise: the text of a large file would take up to four times its size.
    check = codecs.getincrementaldecoder("utf-8")().decode
    view = memoryview(data)
    try:
        for start in range(0, len(data), _CHUNK):
            check(view[start : start + _CHUNK], start + _CHUNK >= len(data))
    except UnicodeDecodeError:
        return False
    return True


def number_lines(data: bytes, first: int = 1) -> bytes:
    """The lines with their numbers in front; their bytes are kept."""
    if not data:
        return data
    lines = data.split(b"\n")
    tail = lines.pop() if not lines[-1] else None
    width = len(str(first + len(lines) - 1))
    out = [b"%*d: %b" % (width, number, line) for number, line in enumerate(lines, first)]
    if tail is not None:
        out.append(tail)
    return b"\n".join(out)


def line_count(data: bytes) -> int:
    """The number of lines; a last line without an ending counts."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
