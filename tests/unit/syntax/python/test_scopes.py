import ast

import pytest

from marid.core.errors import NotFound
from marid.syntax.python.scopes import all_definitions, definitions, docstring_node, find_named, statements, suggestion

CODE = """
if a:
    def one(): ...
elif b:
    class Two:
        def inner(self):
            def deep(): ...
else:
    three = 1
try:
    def four(): ...
except E:
    def five(): ...
else:
    def six(): ...
finally:
    def seven(): ...
with c:
    for d in e:
        def eight(): ...
match f:
    case 1:
        async def nine(): ...
def one(): ...
"""
BODY = ast.parse(CODE).body


def test_what_stands_in_blocks_belongs_to_the_scope_around_them() -> None:
    assert [node.name for node in definitions(BODY)] == [
        "one",
        "Two",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "one",
    ]
    assert sum(isinstance(node, ast.Assign) for node in statements(BODY)) == 1


def test_long_chains_of_branches_are_no_deep_recursion() -> None:
    body = ast.parse("if x:\n pass\n" + "elif x:\n pass\n" * 1500).body
    assert sum(isinstance(node, ast.Pass) for node in statements(body)) == 1501


def test_names_are_dotted_down_into_functions() -> None:
    assert [name for name, _ in all_definitions(BODY)][1:4] == ["Two", "Two.inner", "Two.inner.deep"]


def test_a_name_that_is_defined_twice_gives_both() -> None:
    assert [node.lineno for node in find_named(BODY, " one ")] == [3, 24]


def test_a_wrong_name_suggests_near_ones_and_those_that_end_in_it() -> None:
    with pytest.raises(NotFound, match=r"no 'inner' in it; did you mean 'Two.inner"):
        find_named(BODY, "inner")
    with pytest.raises(NotFound, match=r"did you mean 'seven"):
        find_named(BODY, "sevn")
    with pytest.raises(NotFound, match=r"no 'zzz' in it$"):
        find_named(BODY, "zzz")


def test_a_suggestion_bears_a_huge_name() -> None:
    assert suggestion("x" * 1_000_000, ["y"]) == ""


def test_only_a_string_at_the_start_is_a_docstring() -> None:
    assert docstring_node(ast.parse("'a'\nb")) is not None
    assert [docstring_node(ast.parse(code)) for code in ("", "1", "b'x'", "f'x'", "a\n'b'")] == [None] * 5
