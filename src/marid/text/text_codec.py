"""A text file as text, and the way back: what an edit leaves alone keeps its bytes, its mark and its encoding."""

import codecs
from dataclasses import dataclass

from marid.core.errors import BadInput
from marid.text.decode import is_binary

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
WIDE_BOMS = tuple(mark for mark, codec in _BOMS if codec != "utf-8")


@dataclass(frozen=True, kw_only=True)
class DecodedText:
    """The text behind the byte-order mark, and how it was written."""

    text: str
    codec: str
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """`text` in the same encoding, after the same mark. Raises: BadInput for what the encoding lacks."""
        return self.bom + encode_text(text, self.codec)


def encode_text(text: str, codec: str = "utf-8") -> bytes:
    """The bytes of `text`. Raises: BadInput that names the first character that cannot be written, and its line."""
    try:
        return text.encode(codec)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        char = f"U+{ord(text[error.start]):04X}"
        if "\ud800" <= text[error.start] <= "\udfff":
            raise BadInput(f"line {line} of the new text holds half a character ({char}), which is no text") from error
        raise BadInput(f"line {line} of the new text holds {char}, which the file's encoding {codec} lacks") from error


def decode_text(data: bytes) -> DecodedText | None:
    """The text of a file: a mark decides, else UTF-8, else CP1252, else Latin-1; None for a binary file."""
    for mark, codec in _BOMS:
        if data.startswith(mark):
            found = _try_decode(data[len(mark) :], codec)
            if found is not None:
                return DecodedText(text=found, codec=codec, bom=mark)
            if codec != "utf-8":
                return None
    if is_binary(data):
        return None
    for codec in ("utf-8", "cp1252"):
        found = _try_decode(data, codec)
        if found is not None:
            return DecodedText(text=found, codec=codec)
    return DecodedText(text=data.decode("latin-1"), codec="latin-1")


def _try_decode(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None
