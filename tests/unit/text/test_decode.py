import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.decode import SNIFF_BYTES, decode_text, encode_text, is_binary, to_utf8


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_utf_8_stays_the_very_same_object(text: str) -> None:
    data = text.encode()
    found = to_utf8(data)
    assert found is not None
    assert found[0] is data
    assert found[1] == "utf-8"


def test_a_zero_byte_near_the_start_makes_a_file_binary_and_one_far_away_does_not() -> None:
    for letter in (b"a", "é".encode()):
        near = letter * 100 + b"\0"
        far = letter * SNIFF_BYTES + b"\0"
        assert to_utf8(near) is None
        assert is_binary(near)
        assert to_utf8(far) == (far, "utf-8")
        assert not is_binary(far)


def test_a_character_across_the_end_of_the_sniffed_bytes_is_valid() -> None:
    for offset in range(4):
        data = b"a" * (SNIFF_BYTES - offset) + "日本".encode()
        assert to_utf8(data) == (data, "utf-8")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_decides(encoding: str) -> None:
    data = "\ufeffné 日本 😀\n".encode(encoding)
    assert to_utf8(data) == ("né 日本 😀\n".encode(), encoding[:6])
    assert not is_binary(data)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_wide_text_without_a_mark_is_binary(encoding: str) -> None:
    assert to_utf8("plain text".encode(encoding)) is None


def test_a_byte_order_mark_of_utf_8_stays() -> None:
    assert to_utf8(b"\xef\xbb\xbfabc") == (b"\xef\xbb\xbfabc", "utf-8")


@pytest.mark.parametrize("data", [b"\xff\xfea", b"\xff\xfe\x00\xd8", b"\xff\xfe\x00\x00\xff\xff\xff\xff"])
def test_a_mark_before_other_bytes_makes_a_file_binary(data: bytes) -> None:
    assert to_utf8(data) is None


def test_a_file_that_is_not_utf_8_is_read_as_cp1252() -> None:
    assert to_utf8(b"caf\xe9 \x80 \x93quoted\x94") == ("café € “quoted”".encode(), "cp1252")


@pytest.mark.parametrize("byte", [b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"])
def test_bytes_that_cp1252_lacks_make_it_latin_1(byte: bytes) -> None:
    assert to_utf8(b"\xe9" + byte) == (("é" + byte.decode("latin-1")).encode(), "latin-1")


@given(st.binary(max_size=200))
def test_any_bytes_give_utf_8_or_none(data: bytes) -> None:
    found = to_utf8(data)
    if found is not None:
        found[0].decode()
        assert not is_binary(data)


@pytest.mark.parametrize("tail", ["é", "日", "😀"])
def test_a_large_file_is_checked_piece_by_piece(tail: str) -> None:
    for offset in range(5):
        data = b"a" * ((1 << 20) - offset) + (tail * 3).encode()
        assert to_utf8(data) == (data, "utf-8")
        broken = data[:-1]
        found = to_utf8(broken)
        assert found is not None
        assert found[1] in ("cp1252", "latin-1")


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
def test_any_text_is_encoded_back_byte_for_byte(data: bytes) -> None:
    found = decode_text(data)
    assert found is None or found.encode(found.text) == data


def test_the_error_names_the_character_that_cannot_be_encoded_and_its_line() -> None:
    found = decode_text(b"caf\xe9")
    assert found is not None
    with pytest.raises(BadInput, match=r"line 2 of the new text contains U\+4E2D, which cp1252 cannot encode"):
        found.encode("café\n中")
    with pytest.raises(BadInput, match=r"line 1 .*half a character \(U\+D800\)"):
        encode_text("\ud800")
