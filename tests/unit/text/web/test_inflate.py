import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.web import bomb
from marid.core.errors import Refused, Unavailable
from marid.text.web.inflate import Decompressor


def raw(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED = {"gzip": gzip.compress, "x-gzip": gzip.compress, "deflate": zlib.compress, "": bytes}


@pytest.mark.parametrize("coding", PACKED)
@given(data=st.binary(max_size=500), size=st.integers(1, 50))
def test_pieces_become_the_whole(coding: str, data: bytes, size: int) -> None:
    packed = PACKED[coding](data)
    unpack = Decompressor(coding)
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert b"".join(unpack.decompress(piece, 10_000) for piece in pieces) == data
    unpack.check_end()


def test_deflate_without_its_header_is_unpacked() -> None:
    unpack = Decompressor("Deflate")
    assert unpack.decompress(raw(b"hello" * 10), 1000) == b"hello" * 10
    unpack.check_end()


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "deflate, gzip", "compress", "x"])
def test_what_cannot_be_limited_is_refused(coding: str) -> None:
    with pytest.raises(Refused, match="only gzip or deflate"):
        Decompressor(coding)


@pytest.mark.parametrize("coding", ["identity", "identity, gzip", " , gzip", "GZIP"])
def test_identity_is_not_an_encoding(coding: str) -> None:
    body = gzip.compress(b"hello") if "gzip" in coding.lower() else b"hello"
    assert Decompressor(coding).decompress(body, 99) == b"hello"


def test_a_bomb_is_cut() -> None:
    packed = bomb()
    unpack = Decompressor("gzip")
    tracemalloc.start()
    try:
        assert len(unpack.decompress(packed, 1 << 20)) == 1 << 20
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("body", [b"not packed at all", gzip.compress(b"x") + b"more"], ids=["plain", "more"])
def test_what_is_not_as_it_says_is_an_error(body: bytes) -> None:
    with pytest.raises(Unavailable):
        Decompressor("gzip").decompress(body, 1000)


@pytest.mark.parametrize("end", [1, 5, -1])
def test_what_breaks_off_is_an_error(end: int) -> None:
    unpack = Decompressor("gzip")
    unpack.decompress(gzip.compress(b"hello")[:end], 1000)
    with pytest.raises(Unavailable, match="ends too early"):
        unpack.check_end()


def test_an_empty_body_is_whole() -> None:
    Decompressor("gzip").check_end()
    Decompressor("").check_end()
