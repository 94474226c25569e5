"""Addresses behind the text of a link."""

import pytest

from marid.faces.cli.markdown.targets import LONGEST_TARGET, NO_TARGET, target_at


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("(u)", "u"),
        ("( )", ""),
        ("(a(b)c)", "a(b)c"),
        ("(a\\)b)", "a\\)b"),
        ('(u "t")', "u"),
        ("(u 't' )", "u"),
        ("(u (t))", "u"),
        ("(<a b>)", "a b"),
        ('(<a> "t")', "a"),
    ],
)
def test_an_address_may_have_brackets_and_a_title(text: str, address: str) -> None:
    assert target_at(text + " rest)", 0) == (address, len(text))


@pytest.mark.parametrize(
    "text",
    [
        "(a b)",
        "(a(b c)",
        "(<a> b)",
        "(" * 20,
        "(" + "a()" * 40,
        "(" + "x" * LONGEST_TARGET,
        "(<" + "x" * LONGEST_TARGET,
    ],
)
def test_some_brackets_are_no_target_whatever_follows(text: str) -> None:
    assert target_at(text, 0) == NO_TARGET


@pytest.mark.parametrize("text", ["(", "(a", "(a(b)", "(a ", '(a "t', "(<a", "(<a>", "(a\\", "(a(\\"])
def test_open_brackets_are_undecided(text: str) -> None:
    assert target_at(text, 0) is None
