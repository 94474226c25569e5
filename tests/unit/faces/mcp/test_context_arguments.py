from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.context import OutputFormat
from marid.core.errors import BadInput
from marid.faces.mcp.context_arguments import FORMS, ContextArguments, arguments_schema, parse_arguments

PATH = {"path": "/project"}


def test_a_path_alone_means_all_files_as_text() -> None:
    assert parse_arguments(PATH) == ContextArguments("/project", (), False, OutputFormat.TEXT, None, ())


def test_every_argument_arrives() -> None:
    arguments = {"rules": ["!*.log", "src/"], "format": "xml", "budget": 9, "targets": ["a", "b"]}
    assert parse_arguments({**PATH, **arguments}) == ContextArguments(
        "/project", ("!*.log", "src/"), False, OutputFormat.XML, 9, ("a", "b")
    )
    assert parse_arguments({**PATH, "list_only": True}).list_only


def test_null_stands_for_an_argument_that_is_left_out() -> None:
    arguments = dict.fromkeys(arguments_schema()["properties"]) | PATH
    assert parse_arguments(arguments) == parse_arguments(PATH)


@pytest.mark.parametrize(("sent", "meant"), [("true", True), ("False", False)])
def test_a_boolean_may_come_as_text(sent: str, meant: bool) -> None:
    assert parse_arguments({**PATH, "list_only": sent}).list_only is meant


def test_a_whole_number_may_come_as_a_float() -> None:
    assert parse_arguments({**PATH, "budget": 2000.0}).budget == 2000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("path", 1),
        ("path", ""),
        ("path", ["/project"]),
        ("rules", "!*.log"),
        ("rules", [1]),
        ("rules", {"a": "b"}),
        ("targets", ["a", None]),
        ("list_only", 1),
        ("list_only", "yes"),
        ("format", "yaml"),
        ("format", ["text"]),
        ("budget", 0),
        ("budget", -5),
        ("budget", "100"),
        ("budget", 1.5),
        ("budget", True),
        ("budget", float("inf")),
    ],
)
def test_a_wrong_type_or_value_is_named(name: str, value: object) -> None:
    with pytest.raises(BadInput, match=f"'{name}' must be "):
        parse_arguments({**PATH, name: value})


def test_an_unknown_format_is_told_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="one of text, markdown, xml, json, not 'yaml'"):
        parse_arguments({**PATH, "format": "yaml"})


def test_a_long_wrong_value_is_not_repeated_in_full() -> None:
    with pytest.raises(BadInput) as caught:
        parse_arguments({**PATH, "format": "x" * 5000})
    assert len(str(caught.value)) < 200


def test_a_missing_path_is_told() -> None:
    with pytest.raises(BadInput, match="'path' is missing"):
        parse_arguments({"path": None})


def test_an_unknown_argument_is_told_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"takes no 'rule'; it takes path, rules, .*targets"):
        parse_arguments({**PATH, "rule": ["!*.log"]})


def test_a_list_has_no_budget() -> None:
    with pytest.raises(BadInput, match=r"'budget' .* 'list_only'"):
        parse_arguments({**PATH, "list_only": True, "budget": 100})


def test_the_schema_describes_exactly_what_is_accepted() -> None:
    described = arguments_schema()
    samples = {"path": "/p", "rules": ["a"], "list_only": False, "format": "json", "budget": 1, "targets": ["a"]}
    assert set(described["properties"]) == set(samples)
    assert parse_arguments(samples).form is OutputFormat.JSON
    assert described["required"] == ["path"]
    assert described["properties"]["format"]["enum"] == list(FORMS)
    assert all(parameter["description"] for parameter in described["properties"].values())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*arguments_schema()["properties"], "other"]), JSON))
def test_whatever_is_sent_is_understood_or_is_bad_input(arguments: dict[str, object]) -> None:
    with suppress(BadInput):
        assert isinstance(parse_arguments(arguments), ContextArguments)
