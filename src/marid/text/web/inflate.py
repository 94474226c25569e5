"""Decompress HTTP bodies up to a limit, so that a small response cannot expand without bound."""

import zlib
from typing import Protocol

from marid.core.errors import Refused, Unavailable

_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class Decompressor(Protocol):
    """Decompresses a body piece by piece."""

    def decompress(self, piece: bytes, max_bytes: int) -> bytes:
        """At most `max_bytes` more bytes. Raises: Unavailable if the data is not in this encoding."""
        ...

    def check_end(self) -> None:
        """Raises: Unavailable if the body ends too early."""
        ...


def make_decompressor(coding: str) -> Decompressor:
    """For the value of a Content-Encoding header. Raises: Refused for two encodings, or one that cannot be limited."""
    named = [name.strip().lower() for name in coding.split(",") if name.strip().lower() not in ("", "identity")]
    if not named:
        return _NoCompression()
    if len(named) == 1 and named[0] in ("gzip", "x-gzip"):
        return _ZlibDecompressor(_GZIP)
    if named == ["deflate"]:
        return _ZlibDecompressor(_ZLIB)
    raise Refused(f"the response is encoded as {', '.join(named)!a}: only gzip or deflate is supported")


class _NoCompression:
    def decompress(self, piece: bytes, max_bytes: int) -> bytes:
        return piece[:max_bytes]

    def check_end(self) -> None:
        pass


class _ZlibDecompressor:
    """Servers send "deflate" with and without a zlib header; the first two bytes show which."""

    def __init__(self, form: int) -> None:
        self._form = form
        self._zlib = zlib.decompressobj(form)
        self._pending = b""
        self._started = False

    def decompress(self, piece: bytes, max_bytes: int) -> bytes:
        self._pending += piece
        if not self._started and len(self._pending) < 2:
            return b""
        if not self._started:
            self._started = True
            self._choose_format(self._pending)
        try:
            given = self._zlib.decompress(self._pending, max(max_bytes, 1))
        except zlib.error as cause:
            raise Unavailable("the response is not compressed as its header says") from cause
        self._pending = self._zlib.unconsumed_tail
        if self._zlib.unused_data:
            raise Unavailable("the compressed response has data after its end")
        return given[:max_bytes]

    def check_end(self) -> None:
        if not self._zlib.eof and (self._started or self._pending):
            raise Unavailable("the compressed response ends too early")

    def _choose_format(self, head: bytes) -> None:
        if self._form == _ZLIB and not (head[0] & 15 == 8 and int.from_bytes(head[:2], "big") % 31 == 0):
            self._zlib = zlib.decompressobj(_RAW)
