"""How deep a value may be nested."""

import json

import pytest

from marid.adapters.store.json_depth import MAX_DEPTH, check_depth


def nested(depth: int) -> object:
    value: object = {}
    for number in range(depth - 1):
        value = [value] if number % 2 else {"a": value, "b": "[" * 1000}
    return value


def test_what_is_deeper_than_the_limit_is_refused() -> None:
    check_depth(json.dumps(nested(MAX_DEPTH)), nested(MAX_DEPTH))
    for text in (json.dumps(nested(MAX_DEPTH + 1)), json.dumps(nested(MAX_DEPTH + 1)).encode()):
        with pytest.raises(ValueError, match="nested more than 200"):
            check_depth(text, 1, nested(MAX_DEPTH + 1))


def test_many_brackets_are_not_depth() -> None:
    value: list[object] = ["[{" * 1000, [list[object]() for _ in range(1000)]]
    check_depth(json.dumps(value), value)
