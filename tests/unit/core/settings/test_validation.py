"""What fits a setting and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.core.settings.schema import SETTINGS
from marid.core.settings.schema import SETTINGS_BY_NAME as ROWS
from marid.core.settings.validation import (
    CHECKS,
    check_value,
    flatten,
    parse_and_check,
    parse_text,
    printable_key,
    url_problem,
)
from marid.core.settings.values import Settings, settings_by_key


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("fuel", 0, 0), ("fuel", "12", 12), ("fuel", " 7 ", 7),
        ("warn_threshold_percent", 80, 80.0), ("warn_threshold_percent", "0", 0.0),
        ("warn_threshold_percent", 100, 100.0),
        ("max_size_mb", 0.5, 0.5), ("api.seed", -5, -5), ("api.frequency_penalty", "-2", -2.0),
        ("api.stop", "END", ("END",)), ("api.stop", ["a", "b"], ("a", "b")), ("api.stop", '["a"]', ("a",)),
        ("api.tool_choice", "required", "required"),
        ("api.response_format", "text", {"type": "text"}),
        ("api.response_format", {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
         {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}),
        ("tools.include", "a,b,", ("a", "b")), ("tools.include", ("a",), ("a",)), ("tools.include", "", ()),
        ("markdown_style.h1", "#aB12f0", "#aB12f0"), ("markdown_style.h1", "bright_blue", "bright_blue"),
        ("api", {"x": 1}, {"x": 1}), ("username", "7", "7"), ("verbose", "ON", True),
    ],
)  # fmt: skip
def test_a_value_that_fits_is_taken(name: str, raw: object, value: object) -> None:
    assert parse_and_check(ROWS[name], raw) == value


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("fuel", -1, "a whole number of at least 0, not -1"), ("fuel", 1.5, "whole number"), ("fuel", True, "not True"),
        ("fuel", 10**16, "whole number"), ("fuel", "٣x", "whole number"), ("api.max_tokens", 0, "at least 1"),
        ("api.seed", 2**63, "a whole number, not"),
        ("max_size_mb", 0, "a number above 0"), ("max_size_mb", float("inf"), "above 0"),
        ("max_size_mb", float("nan"), "above 0"), ("max_size_mb", True, "above 0"), ("max_size_mb", 10**400, "above 0"),
        ("warn_threshold_percent", 100.5, "a number from 0 to 100"), ("warn_threshold_percent", "80%", "from 0 to 100"),
        ("api.temperature", -0.1, "from 0 to 2"), ("api.top_p", 2, "from 0 to 1"),
        ("mask", "maybe", "true or false, not 'maybe'"), ("mask", 1, "true or false, not 1"),
        ("encoding", 3, "a string, not 3"), ("fallback_tool", "call_me", "call_user or call_agent, not 'call_me'"),
        ("outside", ["ask"], "ask or deny, not a list"),
        ("api.reasoning.effort", "huge", "none or minimal or low"),
        ("rules", "x", None), ("rules", ["a", 1], "a list of strings"), ("rules", 3, "a list of strings, not 3"),
        ("api.stop", "", "none of them empty"), ("api.stop", ["a", ""], "none of them empty"), ("api.stop", 3, "empty"),
        ("api.tool_choice", "maybe", "auto or none or required"), ("api.tool_choice", 3, "or {type"),
        ("api.tool_choice", {"type": "function"}, "function"), ("api.tool_choice", {"function": {"name": "x"}}, "type"),
        ("api.tool_choice", {"type": "function", "function": {"name": ""}}, "name"),
        ("api.response_format", "xml", "whose `type` is text or json_object or json_schema"),
        ("api.response_format", 3, "whose `type`"),
        ("api.response_format", {"type": "json_schema"}, "holds a `schema`"),
        ("markdown_style.h1", "#12345", "#RRGGBB"), ("markdown_style.h1", "#12345g", "#RRGGBB"),
        ("markdown_style.h1", "", "#RRGGBB"), ("markdown_style.h1", 3, "#RRGGBB"),
        ("markdown_style.h1", "nocolour", "#RRGGBB or one of black, .*, not 'nocolour'"),
        ("markdown_style.h1", "bleu", "must be a colour, not 'bleu'; did you mean 'blue'?"),
        ("username", "", "a line of text, not ''"), ("username", " ", "a line"), ("username", "a\nb", "a line of text"),
        ("username", "a\udcff", "a line of text"), ("username", 7, "a line of text, not 7"),
        ("base_url", "nourl", "'base_url' must be an http or https URL"), ("base_url", "http://h/?k", "contain"),
        ("providers.*.base_url", "ftp://x/v1", "must be an http or https URL"),
        ("policy", 3, "a table of verdicts, not 3"), ("policy", {"write": "x"}, "'write' must be"),
        ("api", 3, "'api' must be a table$"), ("api_key", 3, "'api_key' must be a string$"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_told_with_what_would(name: str, raw: object, words: str | None) -> None:
    if words is None:
        assert parse_and_check(ROWS[name], raw) == (raw,)
        return
    with pytest.raises(BadInput, match=words):
        parse_and_check(ROWS[name], raw)


def test_a_file_says_numbers_as_numbers() -> None:
    with pytest.raises(BadInput, match="a whole number of at least 0, not '3'"):
        check_value(ROWS["fuel"], "3")


def test_texts_that_only_look_like_json_are_left_to_the_check() -> None:
    assert parse_text(ROWS["rules"], "[broken") == "[broken"
    assert parse_text(ROWS["rules"], "[" * 100_000) == "[" * 100_000
    assert parse_text(ROWS["api"], "plain") == "plain"
    assert parse_text(ROWS["policy"], "a = b,c=d") == {"a": "b", "c": "d"}


def test_there_is_a_check_for_every_kind_and_it_takes_the_default() -> None:
    assert {one.kind for one in SETTINGS} == CHECKS.keys()
    defaults = settings_by_key(Settings())
    for one in SETTINGS:
        if "." not in one.name and one.kind not in ("table", "policy"):
            assert check_value(one, defaults[one.name]) == defaults[one.name]


def test_tables_become_names_with_dots_in_whichever_way_they_came() -> None:
    values = {
        "api": {"reasoning": {"effort": "low"}},
        "storage": '{"bytes_per_token": 2}',
        "api.seed": "3",
        "x": {"y": 1},
    }
    assert dict(flatten(values)) == {
        "api.reasoning.effort": "low",
        "storage.bytes_per_token": 2,
        "api.seed": 3,
        "x": {"y": 1},
    }
    assert dict(flatten({"api": None, "policy": {"exec": "ask"}, "fuel": "x"})) == {
        "api": None,
        "policy": {"exec": "ask"},
        "fuel": "x",
    }


def test_a_key_is_shown_short_and_without_control_characters() -> None:
    assert printable_key("\x1b[2J" + "x" * 500) == "\\x1b[2J" + "x" * 76


@given(st.sampled_from(sorted(ROWS)), st.text() | st.integers() | st.floats() | st.none() | st.lists(st.text()))
def test_whatever_comes_either_fits_or_is_bad_input(name: str, raw: object) -> None:
    try:
        value = parse_and_check(ROWS[name], raw)
    except BadInput as error:
        value, problem = None, str(error)
    else:
        problem = ""
    assert len(problem) < 500
    assert problem or parse_and_check(ROWS[name], value) == value


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/v1",
        "https://openrouter.ai/api/v1/",
        "HTTP://host",
        "http://[::1]:9/v1",
        "http://name:p%40ss@host:1/v1",
        "http://name:a@b@host",
        "https://bücher.example/v1",
        "http://[fe80::1%lo]:1/v1",
        "http://[::ffff:127.0.0.1]/v1",
        "http://127.0.0.1:/v1",
    ],
)
def test_an_http_address_has_no_problem(url: str) -> None:
    assert url_problem(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        *("nourl", "localhost:1234", "ftp://x/v1", "http://", "http:///v1", "http://x:0/v1", "http://[::1/v1"),
        *("http://x:99999", "http://x:port/v1", "http://a b/v1", " http://x", "http://x/v1\n", "http://secret@"),
        *("http://[:::]/v1", "http://[::1:2:3:4:5:6:7:8:9]/v1", "http://[...]:80/v1", "http://[fe80::1%]/v1"),
        *("http://999.1.1.1/v1", "http://a\uff0fb/v1", "http://ho\x01st/v1", "http://host/v1/\x7f", "http://\xad/v1"),
        *("http://a]@host/v1", "http://host/\ud800", "http://host/" + "a" * 70_000),
    ],
)
def test_what_is_none_is_told_without_being_shown(url: str) -> None:
    assert url_problem(url) == "must be an http or https URL, such as http://localhost:1234/v1"


@pytest.mark.parametrize("more", ["?key=secret", "#secret", "?"])
def test_what_would_be_lost_of_an_address_is_told_without_being_shown(more: str) -> None:
    assert url_problem(f"http://host:1/v1{more}") == "must not contain '?' or '#'"
