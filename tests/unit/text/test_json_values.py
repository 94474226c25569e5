"""JSON of an unknown shape."""

import pytest

from marid.text.json_values import as_list, as_object, as_objects, parse_json


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe\x00", "nan?", "[" * 200_000])
def test_what_is_not_json_is_none(data: bytes | str) -> None:
    assert parse_json(data) is None


def test_what_is_not_of_the_expected_shape_is_empty() -> None:
    assert as_object([1]) == {}
    assert as_objects({"a": 1}) == []
    assert as_objects([{"a": 1}, 2]) == [{"a": 1}]
    assert as_list("ab") == []
    assert as_list([1]) == [1]
