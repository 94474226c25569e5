"""Text files as text, and back."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.text_codec import decode_text, encode_text


@pytest.mark.parametrize(
    ("data", "text", "codec"),
    [
        (b"", "", "utf-8"),
        (b"plain\n", "plain\n", "utf-8"),
        ("é".encode(), "é", "utf-8"),
        (codecs.BOM_UTF8 + "é".encode(), "é", "utf-8"),
        (codecs.BOM_UTF16_LE + "é\n".encode("utf-16-le"), "é\n", "utf-16-le"),
        (codecs.BOM_UTF16_BE + "é\n".encode("utf-16-be"), "é\n", "utf-16-be"),
        (codecs.BOM_UTF32_LE + "é\n".encode("utf-32-le"), "é\n", "utf-32-le"),
        (b"caf\xe9 \x80", "café €", "cp1252"),
        (b"\x81\xe9", "\x81é", "latin-1"),
        (codecs.BOM_UTF8 + b"\xff", "\u00ef\u00bb\u00bf\u00ff", "cp1252"),
    ],
)
def test_the_encoding_is_found_and_kept(data: bytes, text: str, codec: str) -> None:
    found = decode_text(data)
    assert found is not None
    assert (found.text, found.codec) == (text, codec)
    assert found.encode(found.text) == data


@pytest.mark.parametrize(
    "data", [b"\x7fELF\0\0", codecs.BOM_UTF16_LE + b"\x00", codecs.BOM_UTF16_LE + b"\x00\xd8a\x00"]
)
def test_a_binary_file_has_no_text(data: bytes) -> None:
    assert decode_text(data) is None


@given(st.binary(max_size=200))
def test_whatever_has_a_text_comes_back_byte_for_byte(data: bytes) -> None:
    found = decode_text(data)
    assert found is None or found.encode(found.text) == data


def test_a_character_that_the_encoding_lacks_is_named_with_its_line() -> None:
    found = decode_text(b"caf\xe9")
    assert found is not None
    with pytest.raises(BadInput, match=r"line 2 of the new text holds U\+4E2D, which the file's encoding cp1252 lacks"):
        found.encode("café\n中")


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(BadInput, match=r"line 1 .*half a character \(U\+D800\)"):
        encode_text("\ud800")
