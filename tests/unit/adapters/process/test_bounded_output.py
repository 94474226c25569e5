from hypothesis import given
from hypothesis import strategies as st

from marid.adapters.process.bounded_output import BoundedOutput


def captured(most: int, *chunks: bytes) -> BoundedOutput:
    made = BoundedOutput(most)
    for chunk in chunks:
        made.add(chunk)
    return made


def test_what_fits_is_kept_as_it_is() -> None:
    made = captured(10, b"hello", b"world")
    assert (made.text(), made.dropped_bytes) == ("helloworld", 0)


def test_of_more_the_beginning_and_the_end_are_kept() -> None:
    made = captured(8, b"abcdef", b"ghijkl", b"mnop")
    assert (made.text(), made.dropped_bytes) == ("abcd\n[... 8 bytes left out ...]\nmnop", 8)


def test_a_cut_never_splits_a_character() -> None:
    made = captured(8, "äöü€ 12345 €uro".encode())
    assert "�" not in made.text()


def test_what_is_no_utf_8_is_replaced() -> None:
    assert captured(10, b"a\xff\xfeb").text() == "a��b"


def test_the_end_of_endless_output_stays_small() -> None:
    made = captured(1000, *[b"x" * 700] * 100)
    assert made.dropped_bytes == 69_000
    assert len(made.text()) < 1100


def test_whoever_watches_sees_whole_characters_and_not_more_than_is_kept() -> None:
    made = BoundedOutput(10)
    assert [made.add(data) for data in ("€".encode()[:1], "€".encode()[1:], b"12345678", b"more")] == [
        "",
        "€",
        "12345678",
        "",
    ]


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(2, 60).map(lambda n: 2 * n))
def test_what_is_kept_does_not_depend_on_how_it_came(chunks: list[bytes], most: int) -> None:
    whole = captured(most, b"".join(chunks))
    parts = captured(most, *chunks)
    assert (parts.text(), parts.dropped_bytes) == (whole.text(), whole.dropped_bytes)
    assert whole.dropped_bytes == max(0, len(b"".join(chunks)) - most)
