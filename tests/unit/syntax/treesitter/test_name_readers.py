"""Names become dotted, and readers say nothing where nothing is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.syntax.treesitter.definitions import definitions
from marid.syntax.treesitter.name_readers import to_dotted


def kinds(source: str, language: str) -> list[tuple[str, str]]:
    return [(each.kind, each.name) for each in definitions(source.encode(), language)]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("a::b::Shop", "a.b.Shop"),
        ("a :: b", "a.b"),
        ("A\\B\\Shop", "A.B.Shop"),
        ("Shop<T>::total", "Shop.total"),
        ("Shop<Pair<A, B>>::total", "Shop.total"),
        ("::top", "top"),
        ("'lib/x'", "lib/x"),
        ("operator<", "operator<"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_a_qualified_name_of_any_language_becomes_a_dotted_one(written: str, name: str) -> None:
    assert to_dotted(written) == name


@given(st.text(max_size=600))
def test_a_dotted_name_is_never_longer_than_what_was_written(written: str) -> None:
    assert len(to_dotted(written)) <= max(len(written), 0)


def test_a_name_that_nests_without_end_is_cut() -> None:
    assert len(to_dotted("A<" * 100_000)) <= 400


@pytest.mark.parametrize(
    ("source", "language", "found"),
    [
        ("x.y = 1\n", "python", []),
        ("x += 1\n", "python", []),
        ("(a, b) = 1, 2\n", "python", []),
        ("a = b = 1\n", "python", [("variable", "a")]),
        ("const [a, b] = c;\n", "javascript", []),
        ("let a;\n", "javascript", [("variable", "a")]),
        ("a = function () {};\n", "javascript", []),
        ("a.b.c = 1;\n", "javascript", []),
        ("const C = class { m() {} };\n", "javascript", [("class", "C"), ("method", "C.m")]),
        ("module.exports = function () {};\n", "javascript", [("function", "exports")]),
        ("module.exports.go = () => 1;\n", "javascript", [("function", "go")]),
        ("a.prototype.b = class {};\n", "javascript", [("class", "a.b")]),
        (";\n", "javascript", []),
        ("X = Foo.new(1)\n", "ruby", [("constant", "X")]),
        ("X = Class.new(Y) do\n  def z; end\nend\n", "ruby", [("class", "X"), ("method", "X.z")]),
        ("A::X = 1\n", "ruby", [("constant", "A.X")]),
        ("local -r x=1\n", "bash", [("variable", "x")]),
        ("declare -a list\n", "bash", []),
        ("<?php\nclass A { public $b; }\n", "php", [("class", "A"), ("variable", "A.b")]),
    ],
)
def test_what_an_assignment_defines(source: str, language: str, found: list[tuple[str, str]]) -> None:
    assert kinds(source, language) == found
