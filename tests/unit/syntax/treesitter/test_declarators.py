"""C and C++ hide names in the middle of types."""

import pytest

from marid.syntax.treesitter.definitions import definitions


def found(source: str, language: str = "cpp") -> list[tuple[str, str]]:
    return [(each.kind, each.name) for each in definitions(source.encode(), language)]


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
    assert found(source + "\n")[0] == named


def test_one_declaration_can_name_several() -> None:
    assert found("int a, *b, c[2];\n") == [("variable", "a"), ("variable", "b"), ("variable", "c")]


def test_a_named_struct_counts_and_its_variable_does_not() -> None:
    assert found("struct S { int a; } s;\n", "c") == [("struct", "S"), ("variable", "S.a")]


def test_what_is_only_mentioned_is_not_defined() -> None:
    assert found("struct S;\nclass C;\nenum E;\nusing namespace std;\n") == []
    assert found("struct S *find(struct S *s);\n", "c") == [("function", "find")]


def test_a_macro_without_value_is_a_switch() -> None:
    assert found("#define SWITCH\n", "c") == []


def test_members_behind_a_macro_are_methods() -> None:
    source = "class API Shop {\n public:\n  void f();\n  int g() { return 1; }\n};\n"
    assert found(source) == [("class", "Shop"), ("method", "Shop.f"), ("method", "Shop.g")]
