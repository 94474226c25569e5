"""Decompression with a limit: a small answer that unpacks to a huge one is cut, not unpacked."""

import zlib
from typing import Protocol

from marid.core.errors import Refused, Unavailable

_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class Unpacker(Protocol):
    """Takes pieces of a body until it has enough."""

    def take(self, piece: bytes, most: int) -> bytes:
        """At most `most` bytes more. Raises: Unavailable for what is not so coded."""
        ...

    def check_end(self) -> None:
        """Raises: Unavailable when the body should have gone on."""
        ...


def unpacker(coding: str) -> Unpacker:
    """For the value of a Content-Encoding header. Raises: Refused for two codings, or one that cannot be limited."""
    named = [name.strip().lower() for name in coding.split(",") if name.strip().lower() not in ("", "identity")]
    if not named:
        return _Plain()
    if len(named) == 1 and named[0] in ("gzip", "x-gzip"):
        return _Packed(_GZIP)
    if named == ["deflate"]:
        return _Packed(_ZLIB)
    raise Refused(f"the answer is packed as {', '.join(named)!a}: only gzip or deflate, once, is unpacked")


class _Plain:
    def take(self, piece: bytes, most: int) -> bytes:
        return piece[:most]

    def check_end(self) -> None:
        pass


class _Packed:
    """Servers send "deflate" with and without its header; the first bytes tell."""

    def __init__(self, form: int) -> None:
        self._form = form
        self._unpack = zlib.decompressobj(form)
        self._held = b""
        self._begun = False

    def take(self, piece: bytes, most: int) -> bytes:
        self._held += piece
        if not self._begun and len(self._held) < 2:
            return b""
        if not self._begun:
            self._begun = True
            self._choose(self._held)
        try:
            given = self._unpack.decompress(self._held, max(most, 1))
        except zlib.error as cause:
            raise Unavailable("the answer is not packed as it says") from cause
        self._held = self._unpack.unconsumed_tail
        if self._unpack.unused_data:
            raise Unavailable("the packed answer goes on after its end")
        return given[:most]

    def check_end(self) -> None:
        if not self._unpack.eof and (self._begun or self._held):
            raise Unavailable("the packed answer breaks off")

    def _choose(self, head: bytes) -> None:
        if self._form == _ZLIB and not (head[0] & 15 == 8 and int.from_bytes(head[:2], "big") % 31 == 0):
            self._unpack = zlib.decompressobj(_RAW)
