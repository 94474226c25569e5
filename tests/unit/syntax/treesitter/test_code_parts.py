"""Definitions with the bytes that they take."""

import pytest

from marid.syntax.treesitter.code_parts import code_parts, generic_parts
from marid.syntax.treesitter.grammars import parse_tree

PYTHON = b"@one\n@two(\n)\nclass A:\n    x = 1\n\n    def f(self):\n        def g(): pass\n        return 1\n"


def taken(data: bytes, language: str) -> dict[str, bytes]:
    return {
        part.name: data[part.start_byte : part.end_byte]
        for part in code_parts(data, parse_tree(data, language), language)
    }


def test_decorators_are_part_of_a_definition() -> None:
    assert taken(PYTHON, "python")["A"] == PYTHON.rstrip(b"\n")


def test_what_is_inside_functions_can_be_left_out() -> None:
    root = parse_tree(PYTHON, "python")
    assert [part.name for part in code_parts(PYTHON, root, "python")] == ["A", "A.x", "A.f", "A.f.g"]
    assert [part.name for part in code_parts(PYTHON, root, "python", nested=False)] == ["A", "A.x", "A.f"]


@pytest.mark.parametrize(
    ("language", "source", "name"),
    [
        ("rust", b"#[derive(Debug)]\n#[repr(C)]\nstruct S { a: i32 }", "S"),
        ("typescript", b"export const f = (x: number) => x + 1;", "f"),
        ("go", b"type T struct { X int }", "T"),
        ("java", b"@Deprecated\npublic class A { }", "A"),
        ("csharp", b"[Obsolete] class A { }", "A"),
        ("ruby", b"class A < B\n  def f = 1\nend", "A"),
        ("php", b"function f() { return 1; }", "f"),
        ("bash", b"f() { echo 1; }", "f"),
    ],
)
def test_a_definition_is_whole(language: str, source: bytes, name: str) -> None:
    data = (b"<?php\n" if language == "php" else b"") + source + b"\n"
    assert taken(data, language)[name] == source


def test_of_an_unknown_language_the_types_of_nodes_tell() -> None:
    data = b"package a\n\ntype T struct { X int }\n\nfunc main() { f() }\n"
    found = [
        (part.kind, part.name, part.first_line, part.last_line) for part in generic_parts(data, parse_tree(data, "go"))
    ]
    assert ("function", "main", 5, 5) in found
    assert ("type", "T", 3, 3) in found


def test_of_an_unknown_language_names_are_nested() -> None:
    data = b"class A {\n  int f() { return 1; }\n  class B { void g() { } }\n}\nclass C { }\n"
    found = [(part.depth, part.kind, part.name) for part in generic_parts(data, parse_tree(data, "java"))]
    assert found == [
        (0, "class", "A"),
        (1, "method", "A.f"),
        (1, "class", "A.B"),
        (2, "method", "A.B.g"),
        (0, "class", "C"),
    ]


def test_a_name_without_a_field_is_looked_for_among_the_first_children() -> None:
    data = b"int f(int a) { return a; }\n"
    assert [part.name for part in generic_parts(data, parse_tree(data, "c"))] == ["f"]


def test_an_empty_file_has_no_parts() -> None:
    assert list(generic_parts(b"", parse_tree(b"", "java"))) == []


def test_parts_of_an_installed_grammar_are_plain() -> None:
    data = b"class A { int F() { return 1; } }\n"
    assert [part.name for part in code_parts(data, parse_tree(data, "c_sharp"), "c_sharp")] == ["A", "A.F"]
