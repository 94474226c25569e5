from typing import Any

import pytest

from fakes.pipe import check_schema, fits
from marid.core.errors import BadInput
from marid.faces.json_input import CONVERSATION, MAX_DEPTH, parse_json, type_name

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "words": {"type": "string", "pattern": r"\S", "description": "a string that is not blank"},
        "switch": {"type": "boolean"},
        "whole": {"type": ["integer", "null"], "minimum": 0, "maximum": 1000},
        "number": {"type": "number"},
        "choice": {"enum": ["red", "green"]},
        "list": {"type": "array", "items": {"type": "string"}},
        "loose": {"type": "object"},
        "texts": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["text"],
    "additionalProperties": False,
}
GOOD: list[dict[str, Any]] = [
    {"text": ""},
    {"text": "x", "whole": None, "number": 1, "choice": "red", "list": [], "loose": {"a": [1]}, "texts": {"a": "b"}},
    {"text": "x", "whole": 0, "number": 0.5, "switch": False, "list": ["a"]},
    {"text": "x", "whole": 1000, "words": "a b"},
    {"text": "x", "whole": 2.0},
]
BAD: list[tuple[Any, str]] = [
    ([], "'' must be an object, not an array"),
    ({}, "'text' is missing"),
    ({"text": 1}, "'text' must be a string, not 1"),
    ({"text": None}, "not null"),
    ({"text": "x", "switch": 1}, "'switch' must be true or false, not 1"),
    ({"text": "x", "whole": True}, "'whole' must be a whole number or null, not true"),
    ({"text": "x", "whole": 1.5}, "not 1.5"),
    ({"text": "x", "whole": -1}, "'whole' must be at least 0 and at most 1,000, not -1"),
    ({"text": "x", "whole": 1001}, "not 1001"),
    ({"text": "x", "number": "1"}, "'number' must be a number, not this string"),
    ({"text": "x", "choice": "gren"}, "'choice' must be red or green, not 'gren'; did you mean 'green'?"),
    ({"text": "x", "list": ["a", 2]}, r"'list\[1\]' must be a string"),
    ({"text": "x", "list": {}}, "not an object"),
    ({"text": "x", "texts": {"a": 1}}, "'texts.a' must be a string"),
    ({"text": "x", "words": " "}, "'words' must be a string that is not blank"),
    ({"text": "x", "txet": "x"}, "unknown key 'txet'; did you mean 'text'?"),
    ({"text": "x", "zzzzzzz": "x"}, "unknown key 'zzzzzzz'; known keys: text, words"),
]


@pytest.mark.parametrize("value", GOOD)
def test_what_the_schema_allows_is_taken(value: dict[str, Any]) -> None:
    check_schema(value, SCHEMA, "")
    assert fits(value, SCHEMA)


@pytest.mark.parametrize(("value", "words"), BAD)
def test_what_it_does_not_allow_is_told_with_its_place(value: Any, words: str) -> None:
    assert not fits(value, SCHEMA)
    with pytest.raises(BadInput, match=words):
        check_schema(value, SCHEMA, "")


@pytest.mark.parametrize("name", ["", "-", "..", "a/b", "System", "a\n", "é", "x" * 101])
def test_what_cannot_be_the_name_of_a_conversation_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="cannot be the name of a conversation"):
        check_schema(name, {"type": "string", "format": CONVERSATION}, "context")


def test_a_text_that_may_be_a_key_is_not_repeated() -> None:
    with pytest.raises(BadInput, match=r"not this string$"):
        check_schema("sk-canary-0123456789", {"type": "boolean"}, "x")


def test_a_number_too_long_to_read_is_cut() -> None:
    with pytest.raises(BadInput, match=f"not {'9' * 20}$"):
        check_schema(int("9" * 60), {"type": "string"}, "x")


def test_every_value_has_a_kind() -> None:
    values: list[Any] = [{}, [], "", True, 1, 1.5, None]
    named = [type_name(value) for value in values]
    assert named == ["an object", "an array", "a string", "true or false", "a whole number", "a number", "null"]


def test_all_problems_come_in_one_message_up_to_a_limit() -> None:
    with pytest.raises(BadInput) as caught:
        check_schema({"switch": 1, "list": [1] * 100, "txet": ""}, SCHEMA, "")
    first, *rest = str(caught.value).split("; ")
    assert first == "'switch' must be true or false, not 1"
    assert len(rest) == 19
    with pytest.raises(BadInput, match=r"^unknown key 'txet'; did you mean 'text'\?; 'text' is missing$"):
        check_schema({"txet": ""}, SCHEMA, "")


def test_what_is_nested_as_deeply_as_it_may_be_is_read() -> None:
    parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, "it")


@pytest.mark.parametrize("kind", ["object", "boolean", "number"])
def test_a_word_in_the_wrong_place_may_be_a_key_too(kind: str) -> None:
    with pytest.raises(BadInput, match=r"not this string$"):
        check_schema("secretword", {"type": kind}, "config.api")
