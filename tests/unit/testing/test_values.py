"""JSON of which nothing is known."""

import pytest

from marid.testing.values import parsed, parsed_object, table, tables


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe\x00", "nan?"])
def test_what_is_no_json_is_none(data: bytes | str) -> None:
    assert parsed(data) is None


def test_an_object_is_read_and_all_else_stays_text() -> None:
    assert parsed_object('{"a": 1}') == {"a": 1}
    assert parsed_object('{"a": ') == '{"a": '
    assert parsed_object("[1]") == "[1]"


def test_what_is_not_of_the_expected_shape_is_empty() -> None:
    assert table([1]) == {}
    assert tables({"a": 1}) == []
    assert tables([{"a": 1}, 2]) == [{"a": 1}, {}]
