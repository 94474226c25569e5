"""Outlines, skeletons and single definitions of C and C++."""

from pathlib import Path

import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.cfamily.source_views import definition, outline, signatures, skeleton

CODE = Path(__file__).parents[3] / "golden" / "cpp"
FILES = [("table.h", "c"), ("table.c", "c"), ("shapes.hpp", "cpp"), ("shapes.cpp", "cpp")]


@pytest.mark.parametrize(("name", "language"), FILES)
def test_the_outline_and_skeleton_of_a_sizeable_file_are_as_recorded(name: str, language: str) -> None:
    data = (CODE / name).read_bytes()
    assert outline(data, language) + "\n" == (CODE / f"{name}.outline").read_text("utf-8")
    assert skeleton(data, language) == (CODE / f"{name}.skeleton").read_text("utf-8")


def test_what_a_namespace_owns_is_a_function_wherever_it_is_defined() -> None:
    assert outline(b"namespace a { int f(); }\nint a::f() { return 1; }\nint B::g() { return 1; }\n", "cpp") == (
        "[Namespace] a (Lines 1-1)\n  [Function] f (Lines 1-1)\n[Function] a::f (Lines 2-2)\n[Method] B::g (Lines 3-3)"
    )


def test_what_has_no_name_is_called_anonymous() -> None:
    assert outline(b"namespace { enum { A }; }\n", "cpp") == (
        "[Namespace] (anonymous) (Lines 1-1)\n  [Enum] (anonymous) (Lines 1-1)\n    [Constant] A (Lines 1-1)"
    )


def test_a_skeleton_keeps_comments_and_line_ends() -> None:
    assert skeleton(b"// about f\r\nint f()\r\n{\r\n    return 1; // inside\r\n}\r\n", "c") == (
        "// about f\r\nint f() { ... }\r\n"
    )


def test_a_skeleton_cuts_long_values_and_macros_once() -> None:
    source = b"#define S(a, b) \\\n    do { \\\n    } while (0)\nint a[] = {\n  1,\n}, c = 2;\nint d[] = {\n  1,\n};\n"
    made = skeleton(source, "c")
    assert "int a[] = { ... }, c = 2;" in made
    assert made.endswith("int d[] = { ... };\n")
    assert "do {" not in made


def test_a_definition_is_whole_lines_verbatim() -> None:
    found = definition(
        b"class A {\n    // about f\n    int f()\n    {\n        return 1;\n    }  // behind\n};\n", "cpp", "A::f", "x"
    )
    assert (found.text, found.spans) == ("    int f()\n    {\n        return 1;\n    }", ((3, 6),))


def test_a_definition_that_shares_its_line_is_alone() -> None:
    assert definition(b"struct A { int f() { return 1; } int g; };\n", "cpp", "f", "x").text == "int f() { return 1; }"


def test_overloads_follow_each_other() -> None:
    source = b"int f(int a) { return a; }\nint f(long a)\n{\n    return 1;\n}\n"
    found = definition(source, "cpp", "f", "x")
    assert found.text == "int f(int a) { return a; }\n\nint f(long a)\n{\n    return 1;\n}"
    assert found.spans == ((1, 1), (2, 5))
    assert signatures(source, "cpp", "f", "x").text == "int f(int a)\nint f(long a)"


def test_two_names_of_one_declaration_are_one_text() -> None:
    assert definition(b"int a, b;\n", "c", "b", "x").text == "int a, b;"


def test_bytes_that_are_no_text_do_no_harm() -> None:
    assert "f" in outline(b"/* \xff */ int f() { return '\xfe'; }\n", "c")


def test_errors_name_the_place() -> None:
    with pytest.raises(NotFound, match=r"src/x\.c"):
        definition(b"int f();\n", "c", "nothing", "src/x.c")
    with pytest.raises(BadInput, match="a name is needed"):
        signatures(b"int f();\n", "c", " ", "src/x.c")


@pytest.mark.parametrize(
    "source", [b"<" * 200_000, b"{" * 200_000, b"(" * 50_000, b"a::" * 50_000, b"\0" * 1000, b"#if\n" * 20_000]
)
def test_hostile_text_gives_an_answer(source: bytes) -> None:
    assert isinstance(outline(source, "cpp"), str)
