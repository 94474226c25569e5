"""A definition is replaced, and every byte around it stays."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.syntax.cfamily.declarations import parse_source
from marid.syntax.cfamily.edit import update_definition
from marid.syntax.cfamily.source_views import definition

CODE = Path(__file__).parents[3] / "golden" / "cpp"
FILES = [("table.h", "c"), ("table.c", "c"), ("shapes.hpp", "cpp"), ("shapes.cpp", "cpp")]


def named(data: bytes, language: str) -> list[str]:
    source = parse_source(data, language)
    return [f"{item.qualified_name}@{source.line_range(item)[0]}" for item in source.declarations if item.name]


UNIX = [((CODE / name).read_bytes(), language) for name, language in FILES]
SOURCES = [*UNIX, *((data.replace(b"\n", b"\r\n"), language) for data, language in UNIX)]
CASES = [(data, language, name) for data, language in SOURCES for name in named(data, language)]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(CASES))
def test_the_same_text_changes_nothing(case: tuple[bytes, str, str]) -> None:
    data, language, name = case
    found = definition(data, language, name, "x").text
    assert update_definition(data, language, name, found.encode(), "x").data == data
    assert update_definition(data, language, name, found.replace("\r\n", "\n").rstrip(";").encode(), "x").data == data


def changed(source: str, name: str, content: str, language: str = "cpp") -> str:
    return update_definition(source.encode(), language, name, content.encode(), "x.cpp").data.decode()


MEMBER = "struct A {\n    int f();\n};\n"


@pytest.mark.parametrize(
    ("source", "content", "result"),
    [
        # Only the definition changes.
        ("// a\nint f() { return 1; } // c\nint g;", "int f()\n{\n}\n\n", "// a\nint f()\n{\n} // c\nint g;"),
        # The content gets the line endings of the file.
        ("int a;\r\nint f() { }\r\n", "int f()\n{\n}\n", "int a;\r\nint f()\r\n{\r\n}\r\n"),
        ("int a;\nint f() { }\n", "int f()\r\n{\r\n}\r\n", "int a;\nint f()\n{\n}\n"),
        # Code without indentation is indented, except directives.
        (MEMBER, "int f()\n{\n#if X\n#endif\n\n}", "struct A {\n    int f()\n    {\n#if X\n#endif\n\n    }\n};\n"),
        # Indented code stays.
        (MEMBER, "    int f()\n    {\n    }", "struct A {\n    int f()\n    {\n    }\n};\n"),
        (MEMBER, "int f()\n    {\n    }", "struct A {\n    int f()\n    {\n    }\n};\n"),
        # A string on several lines is not indented.
        (MEMBER, 'int f() { g(R"(a\nb\n)");\n}', 'struct A {\n    int f() { g(R"(a\nb\n)");\n}\n};\n'),
        # A prototype may become a definition and back.
        ("int f(int a);\nint g;\n", "int f(int a) { return a; }", "int f(int a) { return a; }\nint g;\n"),
        ("int f(int a) { return a; }\nint g;\n", "int f(int a);", "int f(int a);\nint g;\n"),
        ("int f(int a);\nint g;\n", "long f(int a)", "long f(int a);\nint g;\n"),
        # A template head is replaced too.
        ("template <class T>\nT f(T a) { }\n", "template <class U>\nU f(U) { }", "template <class U>\nU f(U) { }\n"),
        # A macro and a namespace take no semicolon.
        ("#define f 1\nint x;\n", "#define f 2", "#define f 2\nint x;\n"),
        ("namespace f { int x; }\n", "namespace f { int y; }", "namespace f { int y; }\n"),
        # A broken file can be fixed.
        ("int g;\nint f() { return (1; }\n", "int f() { return 1; }", "int g;\nint f() { return 1; }\n"),
    ],
)
def test_a_definition_is_replaced_in_the_style_of_the_file(source: str, content: str, result: str) -> None:
    assert changed(source, "f", content) == result


def test_the_replaced_lines_are_reported() -> None:
    made = update_definition(b"int a;\nint f()\n{\n}\n", "c", "f", b"int f() { return 2; }", "x")
    assert (made.before, made.after) == ((2, 4), (2, 2))


@pytest.mark.parametrize("content", ["struct S { int b; }", "struct S { int b; };", "struct S { int b; }; // new"])
def test_the_semicolon_of_a_type_is_optional(content: str) -> None:
    made = changed("struct S { int a; };\nint f;\n", "S", content, "c")
    assert made == content.replace("}", "};").replace(";;", ";") + "\nint f;\n"


@pytest.mark.parametrize("content", ["int f() {", "int f() }", "int f( { }", "struct {{{", "int f() { return (1; }"])
def test_content_that_would_not_parse_is_refused(content: str) -> None:
    with pytest.raises(BadInput, match=r"no longer parse \(line [23]\)"):
        changed("int a;\nint f() { }\nint g() { return 1; }\n", "f", content)


def test_content_that_swallows_the_rest_is_refused_in_a_broken_file_too() -> None:
    with pytest.raises(BadInput, match=r"x\.cpp"):
        changed("int ) a;\nint ( b;\nint f() { }\nint g() { return 1; }\n}}\n", "f", "int f() {")
    with pytest.raises(BadInput, match="would change what follows"):
        changed("int f() { }\nint g() { return 1; }\n}\n", "f", "namespace n { int f() { }")
