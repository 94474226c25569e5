import pytest

from marid.core.errors import Refused
from marid.text.web.pages import decode_page


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("grün".encode(), "", "grün"),
        ("grün".encode(), "UTF-8", "grün"),
        (b"\xef\xbb\xbfa", "", "a"),
        ("grün".encode("latin-1"), "iso-8859-1", "grün"),
        ("grün".encode("latin-1"), "", "grün"),
        ("\u201cx\u201d".encode("cp1252"), "ISO-8859-1", "\u201cx\u201d"),
        ("日本".encode("shift_jis"), "shift_jis", "日本"),
        ("日本".encode("utf-16-le"), "utf-16le", "日本"),
        (b'<meta charset="koi8-r">' + "да".encode("koi8-r"), "", '<meta charset="koi8-r">да'),
        (b"plain", "rot13", "plain"),
        (b"plain", "zlib", "plain"),
        (b"plain", "no such", "plain"),
        (b"\xff\xfe", "utf-8", "ÿþ"[:0]),
    ],
)
def test_a_page_is_read_in_its_encoding(data: bytes, charset: str, text: str) -> None:
    assert decode_page(data, charset) == text


def test_a_binary_page_is_refused() -> None:
    with pytest.raises(Refused, match="binary"):
        decode_page(b"a\0b", "utf-8")


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_character_that_was_cut_does_not_change_the_others(cut: int) -> None:
    data = "grün 🙂".encode()[:-cut]
    assert decode_page(data, "", whole=False) == "grün "


def test_a_cut_page_in_another_encoding_is_decoded() -> None:
    assert decode_page("grün und gut".encode("latin-1"), "", whole=False) == "grün und gut"
    assert decode_page(b"plain", "", whole=False) == "plain"
