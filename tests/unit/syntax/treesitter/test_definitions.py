"""Definitions of real and of broken code, and how they are looked up."""

import ast
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marid.syntax
from marid.syntax.languages import LANGUAGES
from marid.syntax.treesitter.definitions import (
    Definition,
    definitions,
    find_definitions,
    generic_definitions,
    locate_definitions,
    visible_definitions,
)
from marid.syntax.treesitter.grammars import MAX_PARSE_BYTES, parse_tree
from marid.syntax.treesitter.nodes import cut_pieces, last_row

STDLIB = Path(sysconfig.get_paths()["stdlib"])
MODULES = ("argparse", "ast", "dataclasses", "enum", "inspect", "pathlib", "socket", "statistics", "textwrap", "typing")
BITS = [
    *("class A", "def f(", "):", "{", "}", "(", ")", "[", "]", "<", ">", ";", ",", ":", "=", "=>", "::", "fn "),
    *("func ", "function ", "struct ", "namespace a", "template", "impl ", "export ", "type ", "const ", "int "),
    *("@x", "#[y]", "\n", "\r\n", "\t", "// c", "/* c", "# c", '"""', "'", "end", "do", "é", "\0", "<?php "),
]


def names(source: str | bytes, language: str = "python") -> list[str]:
    data = source if isinstance(source, bytes) else source.encode()
    return [each.name for each in definitions(data, language)]


def by_ast(node: ast.AST, scope: str = "") -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield scope + child.name, min([child.lineno, *(each.lineno for each in child.decorator_list)])
            yield from by_ast(child, f"{scope}{child.name}.")
        else:
            yield from by_ast(child, scope)


@pytest.mark.parametrize("module", MODULES)
def test_python_agrees_with_the_standard_librarys_own_parser(module: str) -> None:
    path = STDLIB / f"{module}.py"
    data = (path if path.exists() else STDLIB / module / "__init__.py").read_bytes()
    found = definitions(data, "python")
    assert sorted((each.name, each.start) for each in found if each.kind in ("class", "function", "method")) == sorted(
        by_ast(ast.parse(data))
    )
    assert [each.start for each in found] == sorted(each.start for each in found)
    assert all(1 <= each.start <= each.end <= data.count(b"\n") + 1 for each in found)
    assert max(each.depth for each in found) < 8


def test_a_definition_says_everything_about_itself() -> None:
    source = b'class Shop:\n    @a\n    @b(1,\n       2)\n    def total(self):\n        """Sums."""\n        return 1\n'
    assert definitions(source, "python")[1] == Definition(
        name="Shop.total",
        kind="method",
        start=2,
        end=7,
        signature="def total(self):",
        doc="Sums.",
        depth=1,
        decorators="@a @b(1, 2)",
    )


@pytest.mark.parametrize("language", LANGUAGES)
@given(bits=st.lists(st.sampled_from(BITS), max_size=30))
def test_broken_code_never_raises(language: str, bits: list[str]) -> None:
    data = " ".join(bits).encode()
    found = definitions(data, language)
    lines = data.count(b"\n") + 1
    assert all(each.name and 1 <= each.start <= each.end <= lines for each in found)
    assert set(visible_definitions(data, language)) <= set(found)


def test_a_name_that_the_parser_made_up_defines_nothing() -> None:
    assert definitions(b", : class A", "python") == ()


def test_code_around_an_error_is_still_found() -> None:
    source = "def good():\n    pass\n\ndef bad(:\n\nclass Later:\n    def method(self):\n        pass\n"
    found = names(source)
    assert found[0] == "good"
    assert "Later" in found


def test_marks_line_ends_and_encodings_change_nothing() -> None:
    plain = "class A:\n    def f(self):\n        return 1\n\n\ndef g():\n    pass\n"
    expected = [(each.name, each.start, each.end) for each in definitions(plain.encode(), "python")]
    for data in (
        b"\xef\xbb\xbf" + plain.encode(),
        plain.replace("\n", "\r\n").encode(),
        plain.replace("    ", "\t").encode(),
        plain.replace("return 1", "return '\xe9'").encode("latin-1"),
    ):
        assert [(each.name, each.start, each.end) for each in definitions(data, "python")] == expected


@pytest.mark.parametrize(
    ("language", "opening"),
    [
        ("java", "class A { "),
        ("cpp", "namespace a { "),
        ("javascript", "function f() { "),
        ("csharp", "class A { "),
        ("typescript", "if (a) { "),
        ("php", "<?php if (a) { "),
    ],
)
def test_deep_nesting_does_not_reach_the_recursion_limit(language: str, opening: str) -> None:
    depth = 3 * sys.getrecursionlimit()
    source = opening + opening.removeprefix("<?php ") * depth + "}" * (depth + 1)
    found = definitions(source.encode(), language)
    assert all(each.depth <= 40 for each in found)


def test_unknown_languages_and_huge_files_define_nothing() -> None:
    assert definitions(b"def f(): pass\n", "cobol") == ()
    assert visible_definitions(b"def f(): pass\n", "cobol") == ()
    assert definitions(b"def f(): pass\n" + b"#" * MAX_PARSE_BYTES, "python") == ()


def test_visible_definitions_leave_out_what_is_inside_functions_and_free_variables() -> None:
    source = b"LIMIT = 1\nclass A:\n    x = 1\n    def f(self):\n        def g(): pass\n"
    assert [each.name for each in visible_definitions(source, "python")] == ["A", "A.x", "A.f"]


def test_free_variables_are_visible_where_there_is_nothing_else() -> None:
    assert [each.name for each in visible_definitions(b"LIMIT = 1\nname = 'x'\n", "python")] == ["LIMIT", "name"]


SHOPS = definitions(
    b"namespace a { class Shop { void total(); void total(int); void open(); }; class Cart { void total(); }; }\n"
    b"void a::Shop::open() {}\nvoid alone() {}\n",
    "cpp",
)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a.Shop", "a::Shop", "Shop"], ["a.Shop"]),
        (["Shop::total", "Shop<int>::total"], ["a.Shop.total"] * 2),
        (["Shop.open", "open"], ["a.Shop.open"] * 2),
        (["alone", "::alone"], ["alone"]),
        (["total", "hop.open", "nothing", ""], []),
    ],
)
def test_a_name_is_found_whole_or_by_an_ending_that_is_clear(names: list[str], found: list[str]) -> None:
    for name in names:
        assert [each.name for each in find_definitions(SHOPS, name)] == found


def test_an_exact_name_beats_an_ending() -> None:
    found = definitions(b"def run(): pass\nclass A:\n    def run(self): pass\n", "python")
    assert [each.start for each in find_definitions(found, "run")] == [1]
    assert [each.start for each in find_definitions(found, "A.run")] == [3]


def test_every_definition_is_found_by_its_own_name() -> None:
    found = definitions((STDLIB / "textwrap.py").read_bytes(), "python")
    assert all(each in find_definitions(found, each.name) for each in found)


def test_definitions_come_with_their_nodes() -> None:
    data = b"@mark\ndef outer():\n    def inner(): pass\n"
    root = parse_tree(data, "python")
    found = list(locate_definitions(data, root, "python"))
    assert tuple(each for each, _ in found) == definitions(data, "python")
    assert [data[site.outer.start_byte : site.outer.start_byte + 5] for _, site in found] == [b"@mark", b"def i"]
    assert [each.name for each, _ in locate_definitions(data, root, "python", nested=False)] == ["outer"]


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
    found = [f"{each.depth} {each.kind} {each.name}" for each, _ in generic_definitions(data, parse_tree(data, "java"))]
    assert found == ["0 class A", "1 method A.f", "1 class A.B", "2 method A.B.g", "0 class C"]


def test_a_grammar_without_a_table_is_read_generically() -> None:
    data = b"class A { int F() { return 1; } }\n"
    assert [found.name for found, _ in locate_definitions(data, parse_tree(data, "c_sharp"), "c_sharp")] == ["A", "A.F"]


def test_a_node_that_ends_at_the_start_of_the_next_line_does_not_reach_into_it() -> None:
    define = parse_tree(b"#define A 1\n#define B 2\n", "c").children[0]
    assert define.end_point == (1, 0)
    assert last_row(define) == 0


def test_rows_and_columns_of_points_are_never_asked_for_by_name() -> None:
    folder = Path(marid.syntax.__file__).parent
    for module in folder.rglob("*.py"):
        assert not re.search(r"_point\.(row|column)", module.read_text()), module.name


def test_a_cut_inside_another_is_ignored() -> None:
    assert "".join(cut_pieces("abcdef", [(1, 4, "-"), (2, 3, "x"), (5, 6, "+")])) == "a-e+"
