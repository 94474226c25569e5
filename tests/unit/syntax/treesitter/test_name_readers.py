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


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("int f(void) { return 1; }", ("function", "f")),
        ("int *f(void) { return 0; }", ("function", "f")),
        ("int **f(void);", ("function", "f")),
        ("int (f)(int);", ("function", "f")),
        ("int &f() { static int x; return x; }", ("function", "f")),
        ("auto f() -> int { return 1; }", ("function", "f")),
        ("int (*f)(int);", ("variable", "f")),
        ("int a[3];", ("variable", "a")),
        ("int LIMIT;", ("constant", "LIMIT")),
        ("const int limit = 1;", ("constant", "limit")),
        ("constexpr int limit = 1;", ("constant", "limit")),
        ("const char *f(void);", ("function", "f")),
        ("typedef unsigned char byte;", ("type", "byte")),
        ("typedef int (*callback)(int);", ("type", "callback")),
        ("struct { int x; } thing;", ("variable", "thing")),
        ("bool operator<(A a, B b) { return true; }", ("function", "operator<")),
        ("int A::operator()(int) const { return 1; }", ("method", "A.operator()")),
        ("A::operator bool() const { return true; }", ("method", "A.operator bool")),
        ("A::~A() {}", ("method", "A.~A")),
        ("a::b::C<int>::C() : x(1) {}", ("method", "a.b.C.C")),
        ("template <> int f<int>(int x) { return x; }", ("function", "f")),
        ("[[nodiscard]] int f();", ("function", "f")),
        ("class API Shop { void f(); };", ("class", "Shop")),
        ("class API Shop : public Base { void f(); };", ("class", "Shop")),
    ],
)
def test_the_first_thing_that_a_declaration_names(source: str, named: tuple[str, str]) -> None:
    assert kinds(source + "\n")[0] == named


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
