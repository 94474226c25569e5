"""Decode a web page by the charset that its server, its first bytes or the page itself declare."""

import re

from marid.core.errors import Refused
from marid.text.decode import to_utf8

SNIFF_BYTES = 1024
_META = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?([A-Za-z0-9_-]{1,40})", re.I)
# A server must not be able to choose any codec of Python.
_KNOWN_CHARSETS = frozenset(
    (
        *("utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be", "koi8-r", "koi8-u", "macintosh"),
        *("iso-8859-1", "latin1", "latin-1", *(f"iso-8859-{part}" for part in range(2, 17) if part != 12)),
        *(f"windows-{page}" for page in range(1250, 1259)),
        *("shift_jis", "euc-jp", "iso-2022-jp", "gb2312", "gbk", "gb18030", "big5", "euc-kr"),
    )
)
_ALIASES = {"iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "macintosh": "mac_roman"}


def decode_page(data: bytes, charset: str, *, whole: bool = True) -> str:
    """The text of a page; not `whole` if its end was cut off. Raises: Refused if it is binary."""
    named = charset.lower() or _declared_charset(data)
    if named in _KNOWN_CHARSETS and named not in ("utf-8", "utf8"):
        return data.decode(_ALIASES.get(named, named), "replace")
    found = to_utf8(data if whole else _without_broken_end(data))
    if found is None:
        raise Refused("the page is binary: only text is fetched")
    return found[0].decode("utf-8-sig")


def _declared_charset(data: bytes) -> str:
    found = _META.search(data[:SNIFF_BYTES])
    return found[1].decode("ascii").lower() if found else ""


def _without_broken_end(data: bytes) -> bytes:
    """Without the first bytes of a character whose other bytes were cut off."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start] if error.start >= len(data) - 3 else data
    return data
