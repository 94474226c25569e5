import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.faces.pipe.json_request import find_secrets, parse_request, read_object


def asking(command: Any = "no_op", **more: Any) -> dict[str, Any]:
    return {"command": command, "context": "here", **more}


def test_what_is_left_out_asks_for_nothing() -> None:
    request = parse_request(asking())
    assert (request.command, request.fields, request.context, request.settings) == ("no_op", {}, "here", {})
    assert (request.debug, request.force, request.trust, request.home) == (frozenset(), "", False, "")
    assert (request.destroy_at, request.destroy_after) == (None, None)


def test_a_command_with_fields_is_its_only_key() -> None:
    request = parse_request(asking({"rename_context": {"old": None, "new": "there"}}))
    assert (request.command, request.fields["new"], request.conversation_for("old")) == (
        "rename_context",
        "there",
        "here",
    )
    assert request.conversation_for("new") == "there"


def test_overrides_are_stronger_than_config_and_come_after_it() -> None:
    request = parse_request(
        asking(config={"max_recursion_depth": 5, "fuel": 3, "api": {"seed": 1}}, overrides={"max_recursion_depth": "7"})
    )
    assert list(request.settings.items()) == [("fuel", 3), ("api.seed", 1), ("max_recursion_depth", "7")]


def test_an_override_clears_what_config_says_of_its_rival() -> None:
    config = {"api": {"reasoning": {"max_tokens": 100, "exclude": True}}}
    given = {"command": "no_op", "context": "x", "config": config, "overrides": {"api.reasoning.effort": "high"}}
    assert parse_request(given).settings == {"api.reasoning.exclude": True, "api.reasoning.effort": "high"}


def test_what_is_excluded_adds_up() -> None:
    config = {"tools": {"exclude": ["run_shell"], "include": ["grep"], "exclude_categories": ["net"]}}
    overrides = {"tools.exclude": "write_file,edit_file", "tools.include": "get_tree"}
    assert parse_request(asking(config=config, overrides=overrides)).settings == {
        "tools.exclude": ["run_shell", "write_file", "edit_file"],
        "tools.include": "get_tree",
        "tools.exclude_categories": ["net"],
    }


def test_a_whole_number_may_be_written_with_a_point() -> None:
    config = {"fuel": 5.0, "api": {"temperature": 1.0, "max_tokens": 7.0}}
    settings = parse_request(asking(config=config)).settings
    assert [(key, value, type(value)) for key, value in settings.items()] == [
        ("fuel", 5, int),
        ("api.temperature", 1.0, float),
        ("api.max_tokens", 7, int),
    ]
    with pytest.raises(BadInput, match="whole number"):
        parse_request(asking(config={"fuel": 5.5}))


def test_the_tables_of_config_are_settings_too() -> None:
    config = {
        "api": {"temperature": 1, "reasoning": {"effort": "low"}, "response_format": {"type": "text"}},
        "tools": {"include": ["grep"]},
        "storage": {"partition_max_entries": 5},
        "providers": {"mine": {"api_key": "k"}},
        "policy": {"write": "allow"},
    }
    assert parse_request(asking(config=config)).settings == {
        "api.temperature": 1,
        "api.reasoning.effort": "low",
        "api.response_format": {"type": "text"},
        "tools.include": ["grep"],
        "storage.partition_max_entries": 5,
        "providers.mine.api_key": "k",
        "policy": {"write": "allow"},
    }


def test_flags_are_conditions() -> None:
    flags = {"force_call_agent": True, "debug": ["all"], "destroy_at": 5.0, "trust": True}
    request = parse_request(asking(flags={**flags, "destroy_after_seconds_inactive": 60}))
    assert (request.force, request.debug) == ("agent", {"request-log", "response-meta"})
    assert (request.destroy_at, request.destroy_after, request.trust) == (5, 60, True)
    assert parse_request(asking(flags={"force_call_user": True, "debug": ["request_log"]})).debug == {"request-log"}


def test_two_who_should_have_the_word_exclude_each_other() -> None:
    with pytest.raises(BadInput, match="exclude each other"):
        parse_request(asking(flags={"force_call_agent": True, "force_call_user": True}))
    assert parse_request(asking(flags={"force_call_user": True})).force == "user"


def test_keys_are_found_wherever_they_stand() -> None:
    given: dict[str, Any] = {
        "config": {"api_key": "one", "providers": {"mine": {"api_key": 2}}, "model": "m"},
        "overrides": {"providers.mine.api_key": "three", "api_key": ""},
        "command": "no_op",
    }
    assert find_secrets(given) == ("one", "2", "three")
    assert find_secrets({"config": "x", "overrides": None}) == ()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.text(), values, max_size=4), st.booleans())
def test_every_object_is_read_as_it_is(value: dict[str, object], ascii_only: bool) -> None:
    assert read_object(io.BytesIO(json.dumps(value, ensure_ascii=ascii_only).encode())) == value


def test_a_byte_order_mark_is_no_part_of_it() -> None:
    assert read_object(io.BytesIO(b'\xef\xbb\xbf{"a": 1}\n')) == {"a": 1}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff{}", "not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (b"{", "not valid JSON"),
        (b'{"a": 1} {"b": 2}', "not valid JSON"),
        (b"[1]", "not an array"),
        (b'"no_op"', "not a string"),
        (b"null", "not null"),
        (b"true", "not true or false"),
        (b"12", "number"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": -Infinity}', "-Infinity is not a number"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"a": {"b": 1, "b": 2}}', "duplicate key 'b'"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"a":' * 150 + b"1" + b"}" * 150, "nested too deeply"),
        (b'{"a": "\x01"}', "not valid JSON"),
    ],
)
def test_what_is_not_one_json_object_is_bad_input(data: bytes, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_object(io.BytesIO(data))


def test_more_than_the_limit_is_not_taken() -> None:
    with pytest.raises(BadInput, match="larger than 9 bytes"):
        read_object(io.BytesIO(b'{"a": 123}'), max_bytes=9)
    assert read_object(io.BytesIO(b'{"a": 12}'), max_bytes=9) == {"a": 12}


def test_an_input_that_is_closed_is_bad_input() -> None:
    closed = io.BytesIO(b"{}")
    closed.close()
    with pytest.raises(BadInput, match="cannot read"):
        read_object(closed)
    with pytest.raises(BadInput, match="is empty"):
        read_object(None)
