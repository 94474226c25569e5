import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.text.content_hash import content_key
from marid.text.decode import line_count, number_lines
from marid.text.json_values import as_list, as_object, as_objects, parse_json


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", b""),
        (b"a", b"1: a"),
        (b"a\n", b"1: a\n"),
        (b"a\nb", b"1: a\n2: b"),
        (b"\n", b"1: \n"),
        (b"\n\n", b"1: \n2: \n"),
        (b"a\r\nb\x0bc\n", b"1: a\r\n2: b\x0bc\n"),
    ],
)
def test_lines_are_numbered_and_their_bytes_kept(data: bytes, expected: bytes) -> None:
    assert number_lines(data) == expected


def test_numbers_are_as_wide_as_the_last() -> None:
    assert number_lines(b"x\n" * 10).split(b"\n")[0] == b" 1: x"
    assert number_lines(b"x\ny\n", first=99) == b" 99: x\n100: y\n"


@given(st.binary(max_size=200))
def test_numbers_can_be_taken_off_again(data: bytes) -> None:
    lines = number_lines(data).split(b"\n")
    assert b"\n".join(line.partition(b": ")[2] for line in lines) == data


@pytest.mark.parametrize(("data", "count"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)])
def test_an_unfinished_last_line_is_counted(data: bytes, count: int) -> None:
    assert line_count(data) == count


def test_a_content_has_one_key_of_sixteen_bytes() -> None:
    # Written down: a cache outlives the version that filled it.
    assert content_key(b"marid").hex() == "c01a80661d61a0dd7546224b0625d991"
    assert len(content_key(b"")) == 16


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe\x00", "nan?", "[" * 200_000])
def test_what_is_not_json_is_none(data: bytes | str) -> None:
    assert parse_json(data) is None


def test_what_is_not_of_the_expected_shape_is_empty() -> None:
    assert as_object([1]) == {}
    assert as_objects({"a": 1}) == []
    assert as_objects([{"a": 1}, 2]) == [{"a": 1}]
    assert as_list("ab") == []
    assert as_list([1]) == [1]
