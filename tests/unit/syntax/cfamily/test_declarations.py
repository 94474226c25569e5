"""What C and C++ files declare, in every form that they have for it."""

import pytest

from marid.syntax.cfamily.declarations import parse_source


def found(source: str, language: str = "cpp") -> list[tuple[str, str]]:
    """Kind and name, with the scope in front."""
    items = parse_source(source.encode(), language).declarations
    return [(item.kind, "::".join((*(scope.name for scope in item.scope), item.name))) for item in items]


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("int f(void) { return 1; }", [("Function", "f")]),
        ("int f(a, b) int a; char *b; { return a; }", [("Function", "f")]),
        ("int a, *b, c[2];", [("Variable", "a"), ("Variable", "b"), ("Variable", "c")]),
        ("int (*handler)(int);", [("Variable", "handler")]),
        ("typedef int (*callback)(int), number;", [("Type", "callback"), ("Type", "number")]),
        ("struct S { int a; } s;", [("Struct", "S"), ("Field", "S::a")]),
        ("struct { int x; } thing;", [("Struct", "thing"), ("Field", "thing::x")]),
        ("typedef struct node { int x; } node_t;", [("Struct", "node_t"), ("Field", "node_t::x")]),
        ("typedef enum { A, B } color;", [("Enum", "color"), ("Constant", "color::A"), ("Constant", "color::B")]),
        ("enum { A, B = 2 };", [("Enum", ""), ("Constant", "::A"), ("Constant", "::B")]),
        ("union U { int a; float b; };", [("Union", "U"), ("Field", "U::a"), ("Field", "U::b")]),
        ("struct S { int (*f)(int); unsigned a : 3; };", [("Struct", "S"), ("Field", "S::f"), ("Field", "S::a")]),
        ("#define LIMIT 10\n#define MAX(a, b) a\n", [("Macro", "LIMIT"), ("Macro", "MAX")]),
        ("__attribute__((noreturn)) void f(void);", [("Function", "f")]),
        ("struct S;\nstruct S *find(struct S *s);", [("Function", "find")]),
    ],
)
def test_c(source: str, named: list[tuple[str, str]]) -> None:
    assert found(source + "\n", "c") == named


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("namespace a::b { int f(); }", [("Namespace", "a::b"), ("Function", "a::b::f")]),
        ("inline namespace v1 { int x; }", [("Namespace", "v1"), ("Variable", "v1::x")]),
        ("namespace { int g; }", [("Namespace", ""), ("Variable", "::g")]),
        ("namespace lit = std::literals;", [("Namespace", "lit")]),
        ("template <class T> struct H {};\ntemplate <> struct H<int> {};", [("Struct", "H"), ("Struct", "H<int>")]),
        ("template <class T> template <class U> void A<T>::f(U u) {}", [("Method", "A<T>::f")]),
        ("template <class T> int size = 3;", [("Variable", "size")]),
        ("template <class T> concept Small = sizeof(T) < 4;", [("Concept", "Small")]),
        ("template <class T> using List = T*;", [("Type", "List")]),
        ("using X = int;\nusing std::swap;\nusing namespace std;", [("Type", "X")]),
        ("consteval int f(int x) { return x; }", [("Function", "f")]),
        ("auto add = [](int x) { int y = x; return y; };", [("Variable", "add")]),
        ("class C { C(); ~C(); C(const C&) = delete; };",
         [("Class", "C"), ("Method", "C::C"), ("Method", "C::~C"), ("Method", "C::C")]),
        ("struct S { operator bool() const; int operator[](int i) { return i; } };",
         [("Struct", "S"), ("Method", "S::operator bool"), ("Method", "S::operator[]")]),
        ("struct S { friend bool operator==(S a, S b) { return true; } friend class B; };",
         [("Struct", "S"), ("Function", "S::operator==")]),
        ("class A { class B { int c; }; enum class E { X }; using V = int; };",
         [("Class", "A"), ("Class", "A::B"), ("Field", "A::B::c"), ("Enum", "A::E"), ("Constant", "A::E::X"),
          ("Type", "A::V")]),
        ('extern "C" { int f(); }\nextern "C" int g() { return 1; }', [("Function", "f"), ("Function", "g")]),
        ("A::A() try : x(1) { } catch (...) { }", [("Method", "A::A")]),
        ("class API Shop : public Base { public: void f(); };", [("Class", "Shop"), ("Method", "Shop::f")]),
        ("[[nodiscard]] int f();", [("Function", "f")]),
        ("auto f(int x) -> int;", [("Function", "f")]),
        ("template class Hash<char>;\nstatic_assert(true);\nclass C;", []),
    ],
)  # fmt: skip
def test_cpp(source: str, named: list[tuple[str, str]]) -> None:
    assert found(source + "\n") == named


def test_conditionals_are_looked_through() -> None:
    source = "#if A\nint f() { return 1; }\n#elif B\nint f() { return 2; }\n#else\nint g;\n#endif\n"
    assert found(source) == [("Function", "f"), ("Function", "f"), ("Variable", "g")]
    fields = found("struct S {\n#ifdef A\n  int a;\n#endif\n  int b;\n};\n", "c")[1:]
    assert fields == [("Field", "S::a"), ("Field", "S::b")]


def test_a_function_split_by_a_conditional_is_one_function() -> None:
    source = "#ifdef A\nint f(int a) {\n#else\nint f(long a) {\n#endif\n  return a;\n}\nint g(void) { return 1; }\n"
    assert found(source, "c") == [("Function", "f"), ("Function", "g")]


def test_what_stands_around_broken_code_is_found() -> None:
    assert ("Function", "g") in found("int f( {{{ ;\n\nint g(void) { return 1; }\n", "c")


def test_all_namespaces_are_known_step_by_step() -> None:
    assert parse_source(b"namespace a::b { namespace c {} namespace {} }\n", "cpp").namespaces == {"a", "b", "c"}


@pytest.mark.parametrize(
    "part", [b"namespace a{", b"struct s{", b"template<class T>", b"#if A\n", b"{", b"int (*", b"a::"]
)
def test_deep_nesting_does_not_overflow(part: bytes) -> None:
    parse_source(part * 3000, "cpp")
