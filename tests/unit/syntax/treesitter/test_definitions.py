"""Definitions of real and of broken code, and how they are looked up."""

import ast
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.syntax.languages import LANGUAGES
from marid.syntax.treesitter.definitions import (
    Definition,
    definitions,
    find_definitions,
    locate_definitions,
    visible_definitions,
)
from marid.syntax.treesitter.grammars import MAX_PARSE_BYTES, parse

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
    ("name", "found"),
    [
        ("a.Shop", ["a.Shop"]),
        ("a::Shop", ["a.Shop"]),
        ("Shop", ["a.Shop"]),
        ("Shop::total", ["a.Shop.total"] * 2),
        ("Shop<int>::total", ["a.Shop.total"] * 2),
        ("Shop.open", ["a.Shop.open"] * 2),
        ("open", ["a.Shop.open"] * 2),
        ("total", []),
        ("alone", ["alone"]),
        ("::alone", ["alone"]),
        ("hop.open", []),
        ("nothing", []),
        ("", []),
    ],
)
def test_a_name_is_found_whole_or_by_an_ending_that_is_clear(name: str, found: list[str]) -> None:
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
    root = parse(data, "python")
    assert root is not None
    found = list(locate_definitions(data, root, "python"))
    assert tuple(each for each, _ in found) == definitions(data, "python")
    assert [data[site.outer.start_byte : site.outer.start_byte + 5] for _, site in found] == [b"@mark", b"def i"]
    assert [each.name for each, _ in locate_definitions(data, root, "python", nested=False)] == ["outer"]
