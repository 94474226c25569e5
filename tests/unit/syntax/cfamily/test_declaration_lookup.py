"""Which definition a name means."""

from pathlib import Path

import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.cfamily.declaration_lookup import find_declaration, find_declarations
from marid.syntax.cfamily.declarations import CSource, parse_source

CODE = Path(__file__).parents[3] / "golden" / "cpp"
SHAPES = parse_source((CODE / "shapes.hpp").read_bytes() + (CODE / "shapes.cpp").read_bytes(), "cpp")
HEADER = parse_source((CODE / "shapes.hpp").read_bytes(), "cpp")
TABLE = parse_source((CODE / "table.c").read_bytes(), "c")


def told(source: CSource, name: str) -> list[tuple[str, str]]:
    return [(item.kind, item.qualified_name) for item in find_declarations(source, name, "x.cpp")]


@pytest.mark.parametrize(
    ("names", "kind", "whole"),
    [
        (["Shape", "shapes::Shape", "shapes::v2::Shape", "shapes.Shape"], "Class", "shapes::v2::Shape"),
        (["Timer"], "Class", "shapes::v2::Shape::Step::Timer"),
        (["Circle"], "Class", "shapes::v2::Circle"),
        (["Guard"], "Class", "Guard"),
        (["Circle::Circle"], "Method", "shapes::Circle::Circle"),
        (["Shape::~Shape"], "Method", "shapes::Shape::~Shape"),
        (["Circle::area", "shapes::Circle::area"], "Method", "shapes::Circle::area"),
        (["Step::Step"], "Method", "shapes::Shape::Step::Step"),
        (["seconds"], "Method", "shapes::Shape::Step::Timer::seconds"),
        (["Ring::push"], "Method", "shapes::Ring<T,N>::push"),
        (["Shape::operator bool"], "Method", "shapes::v2::Shape::operator bool"),
        (["operator+="], "Method", "shapes::Polygon::operator+="),
        (["rounded"], "Method", "shapes::drawing::layers::rounded"),
        (["Hash"], "Struct", "shapes::detail::Hash"),
        (["Hash<int>"], "Struct", "shapes::detail::Hash<int>"),
        (["Hash<T *>"], "Struct", "shapes::detail::Hash<T*>"),
        (["background"], "Struct", "shapes::drawing::layers::Layer"),
        (["square"], "Function", "shapes::square"),
        (["square<double>"], "Function", "shapes::square<double>"),
        (["layers::count"], "Function", "shapes::drawing::layers::count"),
        (["shapes_version"], "Function", "shapes_version"),
        (["Fill"], "Enum", "shapes::Fill"),
        (["union Word"], "Union", "shapes::Word"),
        (["Spot"], "Type", "shapes::Spot"),
        (["SHAPES_CHECK"], "Macro", "SHAPES_CHECK"),
        (["drawing::layers"], "Namespace", "shapes::drawing::layers"),
        (["concept Number"], "Concept", "shapes::Number"),
    ],
)
def test_one_thing_is_meant(names: list[str], kind: str, whole: str) -> None:
    for name in names:
        assert (name, told(SHAPES, name)) == (name, [(kind, whole)])


def test_a_definition_goes_before_its_declaration() -> None:
    item = find_declaration(SHAPES, "Polygon::centre", "x.cpp")
    assert item.body is not None
    assert find_declarations(HEADER, "Polygon::centre", "x.hpp")[0].body is None


def test_overloads_are_all_found() -> None:
    assert told(SHAPES, "Shape::move") == [("Method", "shapes::Shape::move")] * 2
    assert told(SHAPES, "distance") == [("Function", "shapes::distance")] * 2


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("move(double, double)", "void Shape::move(double x, double y)"),
        ("Shape::move(const Spot&)", "void Shape::move(const Spot& by)"),
        ("Shape::move(const Spot & by)", "void Shape::move(const Spot& by)"),
        ("Polygon::operator[](std::size_t) const", "const Spot& Polygon::operator[](std::size_t at) const"),
        ("Polygon::operator[](std::size_t)", "Spot& Polygon::operator[](std::size_t at) { return corners_.at(at); }"),
    ],
)
def test_parameters_tell_overloads_apart(name: str, line: str) -> None:
    item = find_declaration(SHAPES, name, "x.cpp")
    assert SHAPES.data[item.outer.start_byte :].startswith(line.encode())


def test_a_line_tells_definitions_of_one_name_apart() -> None:
    found = find_declarations(TABLE, "trace", "t.c")
    assert len(found) == 2
    first = TABLE.line_range(found[1])[0]
    assert find_declaration(TABLE, f"trace@{first}", "t.c") == found[1]


def test_parameters_of_other_kinds_are_understood() -> None:
    source = parse_source(
        b"void f(int (*visit)(int), char names[4], int = 3, ...);\nvoid f();\nstruct A { operator int(); };\n", "cpp"
    )
    assert find_declaration(source, "f(int(*)(int), char[4], int, ...)", "x").function is not None
    assert find_declaration(source, "f()", "x").outer.start_point[0] == 1
    assert find_declaration(source, "operator int()", "x").kind == "Method"


def test_a_keyword_tells_a_type_from_a_function() -> None:
    source = parse_source(b"struct stat { int a; };\nint stat(int x) { return x; }\n", "c")
    assert find_declaration(source, "struct stat", "x").kind == "Struct"
    assert find_declaration(source, "stat(int)", "x").kind == "Function"
    assert len(find_declarations(source, "stat", "x")) == 2


def test_a_struct_with_a_body_goes_before_a_typedef_of_it() -> None:
    source = parse_source(b"typedef struct s s;\nstruct s { int a; };\n", "c")
    assert find_declaration(source, "s", "x").kind == "Struct"


def test_the_tag_of_a_typedef_is_a_name_too() -> None:
    source = parse_source(b"typedef struct node { int x; } node_t, *node_p;\n", "c")
    assert [find_declaration(source, name, "x").name for name in ("node", "node_t", "node_p")] == ["node_t"] * 3


def test_a_name_in_two_classes_is_ambiguous_and_says_how_to_ask() -> None:
    with pytest.raises(BadInput, match="ambiguous") as caught:
        find_declarations(SHAPES, "area", "x.cpp")
    assert "shapes::Circle::area@" in str(caught.value)
    assert "double Polygon::area() const" in str(caught.value)


def test_only_one_is_wanted_and_there_are_overloads() -> None:
    with pytest.raises(BadInput, match=r"'distance' is ambiguous in x\.cpp"):
        find_declaration(SHAPES, "distance", "x.cpp")


def test_an_unknown_name_tells_the_nearest() -> None:
    with pytest.raises(NotFound, match=r"'tabel_new' is not defined in t\.c; did you mean 'table_new"):
        find_declarations(TABLE, "tabel_new", "t.c")
    with pytest.raises(NotFound, match="shapes::v2::Circle"):
        find_declarations(SHAPES, "CIRCLE", "x.cpp")
    with pytest.raises(NotFound) as caught:
        find_declarations(TABLE, "qqqqqqqqqqqqqq", "t.c")
    assert "nearest" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["Circle::move", "other::Circle", "Hash<char>", "Shape@1", "distance(int)", "struct Circle"]
)
def test_what_fits_only_in_part_is_not_found(name: str) -> None:
    with pytest.raises(NotFound):
        find_declarations(SHAPES, name, "x.cpp")


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
