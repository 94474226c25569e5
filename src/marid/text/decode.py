"""Bytes of a file to UTF-8: a byte-order mark decides, else valid UTF-8 stays, else CP1252, else Latin-1."""

import codecs

# As git: a NUL this early makes a file binary.
SNIFF_BYTES = 8192
_CHUNK = 1 << 20
_WIDE_CODECS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE_BOMS = tuple(mark for mark, _ in _WIDE_CODECS)


def is_binary(head: bytes) -> bool:
    """Whether a file that starts like this is no text."""
    return head.find(b"\0", 0, SNIFF_BYTES) >= 0 and not head.startswith(_WIDE_BOMS)


def to_utf8(data: bytes) -> tuple[bytes, str] | None:
    """The text as UTF-8 and the encoding it had; the very same object when it was UTF-8; None for a binary file."""
    if data.isascii():
        return None if data.find(b"\0", 0, SNIFF_BYTES) >= 0 else (data, "utf-8")
    if data.startswith(_WIDE_BOMS):
        return _decode_wide(data)
    if data.find(b"\0", 0, SNIFF_BYTES) >= 0:
        return None
    try:
        _check_utf8(data) if len(data) > _CHUNK else data.decode()
    except UnicodeDecodeError:
        return _decode_narrow(data)
    return data, "utf-8"


def _decode_narrow(data: bytes) -> tuple[bytes, str]:
    try:
        return data.decode("cp1252").encode(), "cp1252"
    except UnicodeDecodeError:
        return data.decode("latin-1").encode(), "latin-1"


def _decode_wide(data: bytes) -> tuple[bytes, str] | None:
    encoding = next(name for mark, name in _WIDE_CODECS if data.startswith(mark))
    try:
        return data.decode(encoding).encode(), encoding
    except UnicodeError:
        return None


def _check_utf8(data: bytes) -> None:
    """Raises UnicodeDecodeError. Decodes piecewise: the text of a large file would take up to four times its size."""
    check = codecs.getincrementaldecoder("utf-8")().decode
    view = memoryview(data)
    for start in range(0, len(data), _CHUNK):
        check(view[start : start + _CHUNK], start + _CHUNK >= len(data))
