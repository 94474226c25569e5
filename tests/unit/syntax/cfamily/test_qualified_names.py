"""How C and C++ name things, and how people ask for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.syntax.cfamily.declarations import parse_source
from marid.syntax.cfamily.qualified_names import parse_name_query, split_name, tidy


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("int **f(void);", "f"),
        ("int (f)(int);", "f"),
        ("void (*pick(int kind))(const char *);", "pick"),
        ("int a[3] = {1, 2, 3};", "a"),
        ("bool operator < (A a, B b);", "operator<"),
        ("int A::operator()(int) const { return 1; }", "A::operator()"),
        ("A::operator const char * () const { return 0; }", "A::operator const char*"),
        ("A :: ~A() {}", "A::~A"),
        ("a::b::C<int, 3>::C() : x(1) {}", "a::b::C<int,3>::C"),
        ("template <> int f<int>(int x) { return x; }", "f<int>"),
        ('int operator""_km(long double d) { return 1; }', 'operator""_km'),
    ],
)
def test_the_name_is_taken_out_of_the_middle_of_its_type(source: str, name: str) -> None:
    assert [item.name for item in parse_source(source.encode(), "cpp").declarations] == [name]


@pytest.mark.parametrize(
    "source",
    ["int (;", "void (*)(int);", "API enum;", "int a::;", "int {};", "int (()) { }", "int A::{ }", "f<;{>() { }",
     "auto [a, b] = c;"],
)  # fmt: skip
def test_what_has_no_name_is_not_listed(source: str) -> None:
    assert all(item.name.isidentifier() for item in parse_source(source.encode(), "cpp").declarations)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("f", [("f", "")]),
        ("a::f", [("a", ""), ("f", "")]),
        ("::f", [("f", "")]),
        ("a::Hash<b::C>::find<int>", [("a", ""), ("Hash", "<b::C>"), ("find", "<int>")]),
        ("A::operator<", [("A", ""), ("operator<", "")]),
        ("Hash<int>::operator()", [("Hash", "<int>"), ("operator()", "")]),
        ("A::operator b::C", [("A", ""), ("operator b::C", "")]),
        ("A::~A", [("A", ""), ("~A", "")]),
        ("operators::f", [("operators", ""), ("f", "")]),
    ],
)
def test_a_qualified_name_has_steps(name: str, steps: list[tuple[str, str]]) -> None:
    assert [tuple(part) for part in split_name(name)] == steps


@pytest.mark.parametrize(
    ("asked", "name", "parameters", "keyword", "line"),
    [
        ("Shop.total", "Shop::total", "", "", 0),
        ("Shop :: total ( int , long ) const", "Shop::total", "(int,long)const", "", 0),
        ("struct stat", "stat", "", "struct", 0),
        ("#define MAX", "MAX", "", "#define", 0),
        ("f@12", "f", "", "", 12),
        ("f(int)@12", "f", "(int)", "", 12),
        ("operator()", "operator()", "", "", 0),
        ("A::operator()(int)", "A::operator()", "(int)", "", 0),
        ("operator<(A, B)", "operator<", "(A,B)", "", 0),
        ("Box<int(char)>::get(int)", "Box::get", "(int)", "", 0),
        ("structure", "structure", "", "", 0),
    ],
)
def test_a_name_may_be_asked_for_in_many_ways(asked: str, name: str, parameters: str, keyword: str, line: int) -> None:
    made = parse_name_query(asked)
    assert "::".join(part.name for part in made.parts) == name
    assert (made.parameters, made.keyword, made.line) == (parameters, keyword, line)


@pytest.mark.parametrize("asked", ["", "  ", "::", "(int)", "<int>"])
def test_no_name_is_an_error(asked: str) -> None:
    with pytest.raises(BadInput, match="a name is needed"):
        parse_name_query(asked)


@given(st.text(max_size=60))
def test_any_text_is_a_name_or_an_error(asked: str) -> None:
    try:
        made = parse_name_query(asked)
    except BadInput:
        return
    assert made.parts


@given(st.text(alphabet="ab ::<>,*", max_size=40))
def test_tidying_twice_is_tidying_once(name: str) -> None:
    assert tidy(tidy(name)) == tidy(name)
