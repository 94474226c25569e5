import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.text.decode import SNIFF_BYTES, is_binary, to_utf8


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_utf_8_stays_the_very_same_object(text: str) -> None:
    data = text.encode()
    found = to_utf8(data)
    assert found is not None
    assert found[0] is data
    assert found[1] == "utf-8"


def test_nothing_is_text() -> None:
    assert to_utf8(b"") == (b"", "utf-8")
    assert not is_binary(b"")


def test_a_zero_byte_near_the_start_makes_a_file_binary_and_one_far_away_does_not() -> None:
    for letter in (b"a", "é".encode()):
        near = letter * 100 + b"\0"
        far = letter * SNIFF_BYTES + b"\0"
        assert to_utf8(near) is None
        assert is_binary(near)
        assert to_utf8(far) == (far, "utf-8")
        assert not is_binary(far)


def test_a_letter_that_lies_across_the_end_of_what_is_looked_at_is_no_reason_to_drop_a_file() -> None:
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
def test_a_mark_before_what_is_no_such_text_makes_a_file_binary(data: bytes) -> None:
    assert to_utf8(data) is None


def test_what_is_no_utf_8_is_read_as_cp1252_where_it_can_be() -> None:
    assert to_utf8(b"caf\xe9 \x80 \x93quoted\x94") == ("café € “quoted”".encode(), "cp1252")


@pytest.mark.parametrize("byte", [b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d"])
def test_and_as_latin_1_where_it_cannot(byte: bytes) -> None:
    assert to_utf8(b"\xe9" + byte) == (("é" + byte.decode("latin-1")).encode(), "latin-1")


@given(st.binary(max_size=200))
def test_whatever_the_bytes_are_the_result_is_utf_8_or_none(data: bytes) -> None:
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
