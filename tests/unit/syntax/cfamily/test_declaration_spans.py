"""Where items begin and end."""

import pytest

from marid.core.errors import BadInput
from marid.syntax.cfamily.declaration_lookup import find_declaration
from marid.syntax.cfamily.declarations import parse_source

SPLIT = b"""\
int before;

// about f
#ifdef A
int f(int a) {
#else
int f(long a) {
#endif
    return a;
}

int g(int a)
{
    if (a) {
        return 1;
#if B
    }
}
#else
    }
    return 2;
}
#endif
"""


def spanned(source: bytes, name: str, language: str = "cpp") -> bytes:
    made = parse_source(source, language)
    start, end, _ = made.span(find_declaration(made, name, "x"))
    return source[start:end]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (b"struct S { int a; };", "S"),
        (b"struct S { int a; } s, *t;", "t"),
        (b"template <class T>\nstruct S { T a; };", "S"),
        (b"typedef struct { int a; } s_t;", "s_t"),
        (b'extern "C" int f() { return 1; }', "f"),
        (b"template <class T> void A<T>::f() {}", "f"),
        (b"[[nodiscard]] int f();", "f"),
        (b"enum class E : int { A };", "E"),
        (b"#define MAX(a, b) \\\n    ((a) > (b))", "MAX"),
        (b"namespace a { int x; }", "a"),
        (b"using X = int;", "X"),
        (b"int f(a) int a; { return a; }", "f"),
    ],
)
def test_a_definition_is_whole(source: bytes, name: str) -> None:
    language = "c" if b"f(a)" in source else "cpp"
    around = b"int before;\n\n" + source + b"\n\nint after;\n"
    assert spanned(around, name, language) == source


def test_a_split_function_takes_its_conditional_along() -> None:
    first, last = SPLIT.index(b"#ifdef A"), SPLIT.index(b"\n\nint g")
    assert spanned(SPLIT, "f", "c") == SPLIT[first:last]
    assert spanned(SPLIT, "g", "c") == SPLIT[SPLIT.index(b"int g") :].rstrip(b"\n")
    source = parse_source(SPLIT, "c")
    assert [source.line_range(item) for item in source.declarations] == [(1, 1), (4, 10), (12, 23)]


def test_a_conditional_that_holds_more_is_not_taken_along() -> None:
    source = b"#ifdef A\nint x;\nint f(int a) {\n#else\nint f(long a) {\n#endif\n    return a;\n}\n"
    assert spanned(source, "f", "c") == source[source.index(b"int f(int") :].rstrip(b"\n")


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("int f(int a,\n      int b)\n{\n    return a;\n}", "f", "int f(int a,\n      int b)"),
        ("template <typename T>\nT f(T a) { return a; }", "f", "template <typename T>\nT f(T a)"),
        ("struct A { A() : x(1), y{2} { go(); } };", "A::A", "A()"),
        ("A::A() try : x(1) { } catch (...) { }", "A::A", "A::A()"),
        ("class B final : public A, private C { };", "B", "class B final : public A, private C"),
        ("struct A { virtual int f() const = 0; };", "f", "virtual int f() const = 0"),
        ("struct A { A(const A&) = delete; };", "A::A", "A(const A&) = delete"),
        ("typedef struct n { int a; } n_t;", "n_t", "typedef struct n"),
        ("int table[] = {\n  1,\n  2,\n};", "table", "int table[]"),
        ("int limit = 3;", "limit", "int limit = 3"),
        ("#define MAX(a, b) \\\n    ((a) > (b))\n", "MAX", "#define MAX(a, b)"),
        ("#define SWITCH\n", "SWITCH", "#define SWITCH"),
        ("namespace a::b { int x; }", "a::b", "namespace a::b"),
        ("#if A\nint f()\n#else\nint g()\n#endif\n{ return 1; }\n", "f", "int f()"),
    ],
)
def test_a_signature_is_what_stands_before_the_body(source: str, name: str, expected: str) -> None:
    made = parse_source(source.encode() + b"\n", "cpp")
    assert made.signature(find_declaration(made, name, "x")) == expected


def test_an_old_signature_holds_the_types_of_its_parameters() -> None:
    made = parse_source(b"int f(a, b)\n    int a;\n    char *b;\n{\n    return a;\n}\n", "c")
    assert made.signature(made.declarations[0]) == "int f(a, b)\n    int a;\n    char *b;"


def test_the_choices_of_an_ambiguous_name_have_one_line_that_is_not_too_long() -> None:
    made = parse_source(b"int f(int a,\n      int b);\nint f(" + b"int a, " * 60 + b"int b);\n", "c")
    with pytest.raises(BadInput) as caught:
        find_declaration(made, "f", "x")
    _, short, long = str(caught.value).split("\n  ")
    assert short == "'f@1': int f(int a, int b)"
    assert len(long.removeprefix("'f@3': ")) == 160
