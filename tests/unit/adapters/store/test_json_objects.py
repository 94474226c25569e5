"""JSON that other programs may have written."""

import json

import pytest

from marid.adapters.store.json_objects import MAX_DEPTH, check_depth, parse_object, pretty_json, require_object
from marid.core.conversation.records import Corrupt


def nested(depth: int) -> object:
    value: object = {}
    for number in range(depth - 1):
        value = [value] if number % 2 else {"a": value, "b": "[" * 1000}
    return value


def test_a_value_that_is_nested_too_deep_is_refused() -> None:
    check_depth(json.dumps(nested(MAX_DEPTH)), nested(MAX_DEPTH))
    for text in (json.dumps(nested(MAX_DEPTH + 1)), json.dumps(nested(MAX_DEPTH + 1)).encode()):
        with pytest.raises(ValueError, match="nested more than 200"):
            check_depth(text, 1, nested(MAX_DEPTH + 1))


def test_many_brackets_are_not_depth() -> None:
    value: list[object] = ["[{" * 1000, [list[object]() for _ in range(1000)]]
    check_depth(json.dumps(value), value)


def test_only_an_object_that_could_be_written_again_is_one() -> None:
    assert require_object("f", pretty_json({"a": 1})) == {"a": 1}
    assert [parse_object(data) for data in (None, b"", b"[]", b"[" * 100_000)] == [None] * 4
    with pytest.raises(Corrupt, match="'f' is not a JSON object"):
        require_object("f", b"[]")
