"""Definitions with the bytes that they take, in languages with a table and without one."""

import pytest

from marid.syntax.treesitter.definitions import generic_definitions, locate_definitions
from marid.syntax.treesitter.grammars import parse_tree


def taken(data: bytes, language: str) -> dict[str, bytes]:
    return {
        found.name: data[site.first_byte : site.end_byte]
        for found, site in locate_definitions(data, parse_tree(data, language), language)
    }


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
    parsed = generic_definitions(data, parse_tree(data, "go"))
    found = [(each.kind, each.name, each.start, each.end) for each, _ in parsed]
    assert ("function", "main", 5, 5) in found
    assert ("type", "T", 3, 3) in found


def test_of_an_unknown_language_names_are_nested() -> None:
    data = b"class A {\n  int f() { return 1; }\n  class B { void g() { } }\n}\nclass C { }\n"
    found = [(each.depth, each.kind, each.name) for each, _ in generic_definitions(data, parse_tree(data, "java"))]
    assert found == [
        (0, "class", "A"),
        (1, "method", "A.f"),
        (1, "class", "A.B"),
        (2, "method", "A.B.g"),
        (0, "class", "C"),
    ]


def test_a_grammar_without_a_table_is_read_generically() -> None:
    data = b"class A { int F() { return 1; } }\n"
    assert [found.name for found, _ in locate_definitions(data, parse_tree(data, "c_sharp"), "c_sharp")] == ["A", "A.F"]
