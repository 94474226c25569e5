"""JSON of which nothing is known."""

import pytest

from marid.testing.json_values import as_object, as_objects, parse_json, parse_object


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe\x00", "nan?"])
def test_what_is_no_json_is_none(data: bytes | str) -> None:
    assert parse_json(data) is None


def test_an_object_is_read_and_all_else_stays_text() -> None:
    assert parse_object('{"a": 1}') == {"a": 1}
    assert parse_object('{"a": ') == '{"a": '
    assert parse_object("[1]") == "[1]"


def test_what_is_not_of_the_expected_shape_is_empty() -> None:
    assert as_object([1]) == {}
    assert as_objects({"a": 1}) == []
    assert as_objects([{"a": 1}, 2]) == [{"a": 1}, {}]
