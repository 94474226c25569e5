"""Decompression with a limit: a small answer that unpacks to a huge one is cut, not unpacked."""

import zlib
from typing import Protocol

from marid.core.errors import Refused, Unavailable

_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class Decompressor(Protocol):
    """Takes pieces of a body until it has enough."""

    def decompress(self, piece: bytes, max_bytes: int) -> bytes:
        """At most `most` bytes more. Raises: Unavailable for what is not so coded."""
        ...

    def check_end(self) -> None:
        """Raises: Unavailable when the body should have gone on."""
        ...


def make_decompressor(coding: str) -> Decompressor:
    """For the value of a Content-Encoding header. Raises: Refused for two codings, or one that cannot be limited."""
    named = [name.strip().lower() for name in coding.split(",") if name.strip().lower() not in ("", "identity")]
    if not named:
        return _NoCompression()
    if len(named) == 1 and named[0] in ("gzip", "x-gzip"):
        return _ZlibDecompressor(_GZIP)
    if named == ["deflate"]:
        return _ZlibDecompressor(_ZLIB)
    raise Refused(f"the answer is packed as {', '.join(named)!a}: only gzip or deflate, once, is unpacked")


class _NoCompression:
    def decompress(self, piece: bytes, max_bytes: int) -> bytes:
        return piece[:max_bytes]

    def check_end(self) -> None:
        pass


class _ZlibDecompressor:
    """Servers send "deflate" with and without its header; the first bytes tell."""

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
            raise Unavailable("the answer is not packed as it says") from cause
        self._pending = self._zlib.unconsumed_tail
        if self._zlib.unused_data:
            raise Unavailable("the packed answer goes on after its end")
        return given[:max_bytes]

    def check_end(self) -> None:
        if not self._zlib.eof and (self._started or self._pending):
            raise Unavailable("the packed answer breaks off")

    def _choose_format(self, head: bytes) -> None:
        if self._form == _ZLIB and not (head[0] & 15 == 8 and int.from_bytes(head[:2], "big") % 31 == 0):
            self._zlib = zlib.decompressobj(_RAW)
