"""Names become dotted, and readers say nothing where nothing is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.syntax.treesitter.definitions import definitions
from marid.syntax.treesitter.name_readers import to_dotted


def kinds(source: str, language: str = "cpp") -> list[tuple[str, str]]:
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
    ("language", "sources", "found"),
    [
        ("python", ["x.y = 1\n", "x += 1\n", "(a, b) = 1, 2\n"], []),
        ("python", ["a = b = 1\n"], [("variable", "a")]),
        ("javascript", ["const [a, b] = c;\n", "a = function () {};\n", "a.b.c = 1;\n", ";\n"], []),
        ("javascript", ["let a;\n"], [("variable", "a")]),
        ("javascript", ["const C = class { m() {} };\n"], [("class", "C"), ("method", "C.m")]),
        ("javascript", ["module.exports = function () {};\n"], [("function", "exports")]),
        ("javascript", ["module.exports.go = () => 1;\n"], [("function", "go")]),
        ("javascript", ["a.prototype.b = class {};\n"], [("class", "a.b")]),
        ("ruby", ["X = Foo.new(1)\n"], [("constant", "X")]),
        ("ruby", ["X = Class.new(Y) do\n  def z; end\nend\n"], [("class", "X"), ("method", "X.z")]),
        ("ruby", ["A::X = 1\n"], [("constant", "A.X")]),
        ("bash", ["local -r x=1\n"], [("variable", "x")]),
        ("bash", ["declare -a list\n"], []),
        ("php", ["<?php\nclass A { public $b; }\n"], [("class", "A"), ("variable", "A.b")]),
    ],
)
def test_what_an_assignment_defines(language: str, sources: list[str], found: list[tuple[str, str]]) -> None:
    for source in sources:
        assert (source, kinds(source, language)) == (source, found)


FUNCTIONS = [
    *("int f(void) { return 1; }", "int *f(void) { return 0; }", "int **f(void);", "int (f)(int);"),
    *("int &f() { static int x; return x; }", "auto f() -> int { return 1; }", "const char *f(void);"),
    *("template <> int f<int>(int x) { return x; }", "[[nodiscard]] int f();"),
]


@pytest.mark.parametrize(
    ("sources", "named"),
    [
        (FUNCTIONS, ("function", "f")),
        (["int (*f)(int);"], ("variable", "f")),
        (["int a[3];"], ("variable", "a")),
        (["int LIMIT;"], ("constant", "LIMIT")),
        (["const int limit = 1;", "constexpr int limit = 1;"], ("constant", "limit")),
        (["typedef unsigned char byte;"], ("type", "byte")),
        (["typedef int (*callback)(int);"], ("type", "callback")),
        (["struct { int x; } thing;"], ("variable", "thing")),
        (["bool operator<(A a, B b) { return true; }"], ("function", "operator<")),
        (["int A::operator()(int) const { return 1; }"], ("method", "A.operator()")),
        (["A::operator bool() const { return true; }"], ("method", "A.operator bool")),
        (["A::~A() {}"], ("method", "A.~A")),
        (["a::b::C<int>::C() : x(1) {}"], ("method", "a.b.C.C")),
        (["class API Shop { void f(); };", "class API Shop : public Base { void f(); };"], ("class", "Shop")),
    ],
)
def test_the_first_thing_that_a_declaration_names(sources: list[str], named: tuple[str, str]) -> None:
    for source in sources:
        assert (source, kinds(source + "\n")[0]) == (source, named)


def test_one_declaration_can_name_several() -> None:
    assert kinds("int a, *b, c[2];\n") == [("variable", "a"), ("variable", "b"), ("variable", "c")]


def test_a_named_struct_counts_and_its_variable_does_not() -> None:
    assert kinds("struct S { int a; } s;\n", "c") == [("struct", "S"), ("variable", "S.a")]


def test_what_is_only_mentioned_is_not_defined() -> None:
    assert kinds("struct S;\nclass C;\nenum E;\nusing namespace std;\n") == []
    assert kinds("struct S *find(struct S *s);\n", "c") == [("function", "find")]


def test_a_macro_without_value_is_a_switch() -> None:
    assert kinds("#define SWITCH\n", "c") == []


def test_members_behind_a_macro_are_methods() -> None:
    source = "class API Shop {\n public:\n  void f();\n  int g() { return 1; }\n};\n"
    assert kinds(source) == [("class", "Shop"), ("method", "Shop.f"), ("method", "Shop.g")]
