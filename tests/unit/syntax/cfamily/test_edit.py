"""A definition is exchanged, and every byte around it stays."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.core.errors import BadInput, NotFound
from marid.syntax.cfamily.declaration_lookup import qualified_name
from marid.syntax.cfamily.declaration_spans import line_range
from marid.syntax.cfamily.declarations import parse_source
from marid.syntax.cfamily.edit import count_errors, update_definition
from marid.syntax.cfamily.source_views import definition

CODE = Path(__file__).parents[3] / "golden" / "cpp"
FILES = [("table.h", "c"), ("table.c", "c"), ("shapes.hpp", "cpp"), ("shapes.cpp", "cpp")]


def named(data: bytes, language: str) -> list[str]:
    source = parse_source(data, language)
    return [f"{qualified_name(item)}@{line_range(item, source)[0]}" for item in source.declarations if item.name]


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


def test_only_the_definition_changes() -> None:
    source = "// a\nint f() { return 1; } // behind\nint g;"
    assert (
        changed(source, "f", "int f()\n{\n    return 2;\n}\n\n")
        == "// a\nint f()\n{\n    return 2;\n} // behind\nint g;"
    )


def test_the_lines_before_and_after_are_told() -> None:
    made = update_definition(b"int a;\nint f()\n{\n}\n", "c", "f", b"int f() { return 2; }", "x")
    assert (made.before, made.after) == ((2, 4), (2, 2))


def test_new_text_takes_the_line_ends_of_the_file() -> None:
    assert changed("int a;\r\nint f() { }\r\n", "f", "int f()\n{\n}\n") == "int a;\r\nint f()\r\n{\r\n}\r\n"
    assert changed("int a;\nint f() { }\n", "f", "int f()\r\n{\r\n}\r\n") == "int a;\nint f()\n{\n}\n"


def test_flat_code_is_moved_to_where_it_lands() -> None:
    source = "struct A {\n    int f();\n};\n"
    assert changed(source, "f", "int f()\n{\n#if X\n    go();\n#endif\n\n    return 1;\n}") == (
        "struct A {\n    int f()\n    {\n#if X\n        go();\n#endif\n\n        return 1;\n    }\n};\n"
    )


def test_code_that_is_indented_already_stays_as_it_is() -> None:
    source = "struct A {\n    int f();\n};\n"
    assert changed(source, "f", "    int f()\n    {\n    }") == "struct A {\n    int f()\n    {\n    }\n};\n"
    assert changed(source, "f", "int f()\n    {\n    }") == "struct A {\n    int f()\n    {\n    }\n};\n"


def test_strings_over_several_lines_are_not_moved() -> None:
    source = "struct A {\n    const char *f();\n};\n"
    content = 'const char *f() { return R"(a\nb\n)";\n}'
    assert changed(source, "f", content) == "struct A {\n    " + content + "\n};\n"


@pytest.mark.parametrize("content", ["struct S { int b; }", "struct S { int b; };", "struct S { int b; }; // new"])
def test_the_semicolon_of_a_type_is_optional(content: str) -> None:
    made = changed("struct S { int a; };\nint f;\n", "S", content, "c")
    assert made == content.replace("}", "};").replace(";;", ";") + "\nint f;\n"


def test_a_prototype_may_become_a_definition_and_back() -> None:
    assert (
        changed("int f(int a);\nint g;\n", "f", "int f(int a) { return a; }") == "int f(int a) { return a; }\nint g;\n"
    )
    assert changed("int f(int a) { return a; }\nint g;\n", "f", "int f(int a);") == "int f(int a);\nint g;\n"
    assert changed("int f(int a);\nint g;\n", "f", "long f(int a)") == "long f(int a);\nint g;\n"


def test_a_template_head_is_exchanged_too() -> None:
    source = "template <class T>\nT f(T a) { return a; }\n"
    assert (
        changed(source, "f", "template <typename U>\nU f(U a) { return a; }")
        == "template <typename U>\nU f(U a) { return a; }\n"
    )


def test_a_macro_and_a_namespace_take_no_semicolon() -> None:
    assert changed("#define A 1\nint x;\n", "A", "#define A 2", "c") == "#define A 2\nint x;\n"
    assert changed("namespace a { int x; }\n", "a", "namespace a { int y; }") == "namespace a { int y; }\n"


@pytest.mark.parametrize("content", ["", "  \n\t\n"])
def test_nothing_is_no_definition(content: str) -> None:
    with pytest.raises(BadInput, match="empty"):
        changed("int f() { }\n", "f", content)


@pytest.mark.parametrize("content", ["int f() {", "int f() }", "int f( { }", "struct {{{", "int f() { return (1; }"])
def test_what_would_not_parse_is_refused(content: str) -> None:
    with pytest.raises(BadInput, match=r"no longer parse \(line [23]\)"):
        changed("int a;\nint f() { }\nint g() { return 1; }\n", "f", content)


def test_what_would_swallow_the_rest_is_refused_in_a_broken_file_too() -> None:
    with pytest.raises(BadInput, match=r"x\.cpp"):
        changed("int ) a;\nint ( b;\nint f() { }\nint g() { return 1; }\n}}\n", "f", "int f() {")
    with pytest.raises(BadInput, match="would change what follows"):
        changed("int f() { }\nint g() { return 1; }\n}\n", "f", "namespace n { int f() { }")


def test_a_broken_file_can_be_mended() -> None:
    assert (
        changed("int g;\nint f() { return (1; }\n", "f", "int f() { return 1; }", "c")
        == "int g;\nint f() { return 1; }\n"
    )


def test_overloads_and_unknown_names_are_errors() -> None:
    with pytest.raises(BadInput, match="ambiguous"):
        changed("int f(int a);\nint f(long a);\n", "f", "int f();")
    with pytest.raises(NotFound, match="did you mean f"):
        changed("int f(int a);\n", "ff", "int f();")


def test_one_overload_can_be_meant() -> None:
    assert changed("int f(int a);\nint f(long a);\n", "f(long)", "int f(char a);") == "int f(int a);\nint f(char a);\n"


def test_errors_are_counted() -> None:
    assert count_errors(parse_source(b"int f() { return 1; }\n", "c").root) == 0
    assert count_errors(parse_source(b"int f() { return (1; }\nint ) x;\n", "c").root) >= 2
