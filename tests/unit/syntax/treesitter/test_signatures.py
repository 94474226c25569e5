"""A signature is one line, whatever the author wrote; so is what its docstring or comment says first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.syntax.treesitter.definitions import definitions


def signature(source: str, language: str) -> str:
    return definitions(source.encode(), language)[0].signature


@pytest.mark.parametrize(
    ("language", "source", "line"),
    [
        ("python", "def f(a, b=1) -> int:\n    pass\n", "def f(a, b=1) -> int:"),
        ("python", "@d\nasync def f():\n    pass\n", "async def f():"),
        ("python", "class A(B, metaclass=M): pass\n", "class A(B, metaclass=M):"),
        ("python", "def f(\n    a,  # one\n    b,\n):\n    pass\n", "def f(a, b,):"),
        ("python", "def f():  # why\n    pass\n", "def f():"),
        ("python", "def f(a='#', b='//'):\n    pass\n", "def f(a='#', b='//'):"),
        ("python", "class A[T](B): ...\n", "class A[T](B):"),
        ("python", "X = 1\n", "X = 1"),
        ("javascript", "export default async function f(a = {}) { }\n", "export default async function f(a = {})"),
        ("javascript", "export const add = (a, b) => a + b;\n", "export const add = (a, b) =>"),
        ("javascript", "const o = { f() {} };\n", "const o"),
        ("javascript", "a.prototype.b = function (x) { };\n", "a.prototype.b = function (x)"),
        ("typescript", "type U = string | number;\n", "type U = string | number"),
        ("typescript", "@A() export class S<T> implements I { }\n", "export class S<T> implements I"),
        ("typescript", "export declare function f(): void;\n", "export declare function f(): void"),
        (
            "cpp",
            "template <typename T> // c\nclass S : public B<T> { };\n",
            "template <typename T> class S : public B<T>",
        ),
        ("cpp", "S::S(int a) : x(a), y{1} { }\n", "S::S(int a)"),
        ("cpp", "/* a */ int f(int /* unused */);\n", "int f(int )"),
        ("cpp", "[[nodiscard]] int f();\n", "int f()"),
        ("cpp", "S& operator=(const S&) = delete;\n", "S& operator=(const S&) = delete"),
        ("c", "typedef struct { int a; } T;\n", "typedef struct {…} T"),
        ("c", "struct { int a; } v;\n", "struct {…} v"),
        ("c", "#define MAX(a, \\\n  b) ((a) > (b))\n", "#define MAX(a, b)"),
        ("c", "#define LIMIT 10\n", "#define LIMIT 10"),
        ("java", "@A @B(1) public final class S<T> extends B { }\n", "public final class S<T> extends B"),
        ("java", "record P(int x) { }\n", "record P(int x)"),
        ("go", "type S[T any] struct { a int }\n", "type S[T any] struct"),
        ("go", "type I interface { M() }\n", "type I interface"),
        ("go", "type (\n\tM map[string]struct{}\n)\n", "type M map[string]struct{}"),
        ("go", "type F func(a int) error\n", "type F func(a int) error"),
        ("go", "func (s *S) M(x int) (int, error) { return 1, nil }\n", "func (s *S) M(x int) (int, error)"),
        ("rust", "pub(crate) fn f<T>(x: T) -> T where T: A { x }\n", "pub(crate) fn f<T>(x: T) -> T where T: A"),
        ("rust", "struct P(i32, i32);\n", "struct P(i32, i32)"),
        ("rust", "macro_rules! m { () => {} }\n", "macro_rules! m"),
        ("csharp", "[A] public class S<T> : B where T : class { }\n", "public class S<T> : B where T : class"),
        ("csharp", "class S { int P { get; set; } }\n", "class S"),
        ("ruby", "class S < B\nend\n", "class S < B"),
        ("ruby", "def f(a, b: 1)\n  1\nend\n", "def f(a, b: 1)"),
        ("ruby", "def f = 1\n", "def f"),
        ("php", "<?php\n#[A]\nfinal class S extends B { }\n", "final class S extends B"),
        ("bash", "function f() {\n  :\n}\n", "function f()"),
        ("bash", "f() { :; } > log\n", "f() {…} > log"),
    ],
)
def test_a_signature_is_the_text_up_to_the_body(language: str, source: str, line: str) -> None:
    assert signature(source, language) == line


def test_a_long_value_is_cut() -> None:
    line = signature(f"X = {list(range(10_000))}\n", "python")
    assert line.startswith("X = [0, 1, 2, 3")
    assert len(line) == 121
    assert line.endswith("…")


def test_members_of_a_long_declaration_have_signatures_too() -> None:
    source = "class A { int P { get; set; } int Q => 1; int this[int i] { get { return i; } } }\n"
    lines = [each.signature for each in definitions(source.encode(), "csharp")]
    assert lines == ["class A", "int P", "int Q", "int this[int i]"]


def test_line_ends_and_tabs_become_spaces() -> None:
    assert signature("def f(\r\n\ta,\r\n\tb):\r\n\tpass\r\n", "python") == "def f(a, b):"


@given(st.lists(st.sampled_from(["a", "b: int", "c=(1,\n 2)", "*args", "**more", "# note\n  d", "\n"]), max_size=8))
def test_a_signature_never_has_a_line_break(parameters: list[str]) -> None:
    source = "def f(" + ",\n    ".join(parameters) + "):\n    pass\n"
    assert all("\n" not in each.signature for each in definitions(source.encode(), "python"))


def doc(source: str, language: str) -> str:
    return definitions(source.encode(), language)[-1].doc


NOT_DOCSTRINGS = ('f"""Not {a} docstring."""', 'b"bytes"', '""', 'x = "value"', '"a", "b"', "pass")


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('"""One line."""', "One line."),
        ('"""One line.\n\n    More.\n    """', "One line."),
        ('"""\n    Below.\n    """', "Below."),
        ("'single'", "single"),
        ('r"""Raw \\d."""', "Raw \\d."),
        ('U"old"', "old"),
        ('"""Ends in a "quote\\""""', 'Ends in a "quote\\"'),
        ("\"Ends in 'quote'\"", "Ends in 'quote'"),
        ('# note\n    "after a note"', "after a note"),
        *((body, "") for body in NOT_DOCSTRINGS),
    ],
)
def test_the_first_line_of_a_docstring(body: str, line: str) -> None:
    assert doc(f"def f():\n    {body}\n", "python") == line


def test_python_comments_are_not_docstrings() -> None:
    assert doc("# about f\ndef f(): pass\n", "python") == ""


@pytest.mark.parametrize(
    ("language", "source", "line"),
    [
        ("javascript", "/** Adds. */\nfunction f() {}\n", "Adds."),
        ("javascript", "/**\n * Adds\n * numbers.\n * @param a\n */\nexport function f() {}\n", "Adds"),
        ("javascript", "/** @param a */\nfunction f() {}\n", ""),
        ("typescript", "/** Sells. */\n@A()\nexport class S {}\n", "Sells."),
        ("typescript", "class S {\n  /** Sells. */\n  @A() f() {}\n}\n", "Sells."),
        ("c", "/* One.\n * Two. */\nint f(void);\n", "One."),
        ("c", "//! One.\nint f(void);\n", "One."),
        ("c", "/*****\n * Framed.\n *****/\nint f(void);\n", "Framed."),
        ("cpp", "/// A shop.\ntemplate <class T>\nclass S {};\n", "A shop."),
        ("cpp", "/* inline */ int f();\n", "inline"),
        ("go", "// F does.\n// More.\nfunc F() {}\n", "F does."),
        ("go", "type (\n\t// A is.\n\tA int\n)\n", "A is."),
        ("rust", "//! About the file.\n/// About f.\n#[inline]\nfn f() {}\n", "About f."),
        ("rust", "/// About f.\n#[inline]\n// why inline\nfn f() {}\n", "About f."),
        ("rust", "/** Block. */\nfn f() {}\n", "Block."),
        ("java", "/** Sells. */\n@A\npublic class S {}\n", "Sells."),
        ("csharp", "/// <summary>\n/// Sells.\n/// </summary>\n[A]\npublic class S {}\n", "Sells."),
        ("ruby", "# Sells.\nclass S\nend\n", "Sells."),
        ("php", "<?php\n/**\n * Sells.\n */\n#[A]\nclass S {}\n", "Sells."),
        ("bash", "#!/bin/sh\n# Opens.\nopen() { :; }\n", "Opens."),
        ("bash", "#!/bin/sh\nopen() { :; }\n", ""),
    ],
)
def test_the_comment_right_above(language: str, source: str, line: str) -> None:
    assert doc(source, language) == line


@pytest.mark.parametrize(
    "source",
    [
        "// far away\n\nfunc F() {}\n",
        "// about x\nvar x = 1\nfunc F() {}\n",
        "var x = 1 // about x\nfunc F() {}\n",
        "// =======\nfunc F() {}\n",
    ],
)
def test_a_comment_that_is_about_something_else_is_left_alone(source: str) -> None:
    assert doc("package a\n" + source, "go") == ""


def test_only_the_last_block_of_comments_counts() -> None:
    assert doc("package a\n\n// The licence.\n\n// F does.\nfunc F() {}\n", "go") == "F does."


def test_a_run_of_comments_begins_behind_code_only_if_it_is_on_lines_of_its_own() -> None:
    assert doc("package a\nvar x = 1 // about x\n// F does.\nfunc F() {}\n", "go") == "F does."
