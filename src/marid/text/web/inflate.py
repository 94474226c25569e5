"""Decompress HTTP bodies up to a limit, so that a small response cannot expand without bound."""

import zlib

from marid.core.errors import Refused, Unavailable

_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
_FORMATS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB}


class Decompressor:
    """Decompresses a body piece by piece, by the value of its Content-Encoding header.

    Raises: Refused for two encodings, or one that cannot be limited.
    """

    def __init__(self, coding: str) -> None:
        named = [name.strip().lower() for name in coding.split(",") if name.strip().lower() not in ("", "identity")]
        if len(named) > 1 or not _FORMATS.keys() >= set(named):
            raise Refused(f"the response is encoded as {', '.join(named)!a}: only gzip or deflate is supported")
        self._format = _FORMATS[named[0]] if named else None
        self._zlib = zlib.decompressobj(self._format or _ZLIB)
        self._pending = b""
        self._started = False

    def decompress(self, piece: bytes, max_bytes: int) -> bytes:
        """At most `max_bytes` more bytes. Raises: Unavailable if the data is not in this encoding."""
        if self._format is None:
            return piece[:max_bytes]
        self._pending += piece
        if not self._started:
            if len(self._pending) < 2:
                return b""
            self._started = True
            # Servers send "deflate" with and without a zlib header; the first two bytes show which.
            has_header = self._pending[0] & 15 == 8 and int.from_bytes(self._pending[:2], "big") % 31 == 0
            if self._format == _ZLIB and not has_header:
                self._zlib = zlib.decompressobj(_RAW)
        try:
            given = self._zlib.decompress(self._pending, max(max_bytes, 1))
        except zlib.error as cause:
            raise Unavailable("the response is not compressed as its header says") from cause
        self._pending = self._zlib.unconsumed_tail
        if self._zlib.unused_data:
            raise Unavailable("the compressed response has data after its end")
        return given[:max_bytes]

    def check_end(self) -> None:
        """Raises: Unavailable if the body ends too early."""
        if not self._zlib.eof and (self._started or self._pending):
            raise Unavailable("the compressed response ends too early")
