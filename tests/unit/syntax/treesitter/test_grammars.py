"""Grammars load, and no input takes long."""

from typing import TYPE_CHECKING, Any, cast

import pytest

from marid.core.errors import Exhausted, Unavailable
from marid.syntax.languages import LANGUAGES
from marid.syntax.treesitter.grammars import (
    MAX_PARSE_BYTES,
    grammar_package,
    load_grammar,
    parsable_language,
    parse,
    parse_tree,
    parser_for,
    run_parser,
)

if TYPE_CHECKING:
    from tree_sitter import Parser


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_a_grammar_that_reads_an_empty_file_and_nonsense(language: str) -> None:
    for data in (b"", b"\x00\xff\xfe (((", b"\xef\xbb\xbf"):
        root = parse(data, language)
        assert root is not None
        assert root.end_byte <= len(data)
        assert parse_tree(data, language).end_byte == root.end_byte


@pytest.mark.parametrize(
    ("data", "language", "timeout"),
    [
        pytest.param(b"x", "cobol", 1.0, id="unknown language"),
        pytest.param(b" " * (MAX_PARSE_BYTES + 1), "python", 1.0, id="too large"),
        pytest.param(b"# not java at all\n" * 4_000, "java", 0.02, id="text of another language"),
        pytest.param(b"x = 1\n" * 20_000, "python", -1.0, id="too slow"),
    ],
)
def test_some_files_are_not_parsed(data: bytes, language: str, timeout: float) -> None:
    assert parse(data, language, sample_timeout=timeout) is None


def test_a_large_file_of_code_is_parsed_whole() -> None:
    data = b"def f(a):\n    return a\n\n\n" * 4_000
    root = parse(data, "python", sample_timeout=60)
    assert root is not None
    assert root.child_count == 4_000


@pytest.mark.parametrize("package", ["tree_sitter_klingon", "json"])
def test_a_missing_or_foreign_package_is_unavailable(package: str) -> None:
    with pytest.raises(Unavailable, match=f"'{package}'"):
        load_grammar(package, "language")


class Limited:
    """A parser that always runs out of time."""

    resets = 0

    def parse(self, data: bytes) -> object:
        raise ValueError("Parsing failed")

    def reset(self) -> None:
        self.resets += 1


def test_a_parser_has_a_time_limit() -> None:
    with pytest.deprecated_call():
        assert cast("Any", parser_for("python")).timeout_micros > 0


def test_a_parser_that_times_out_is_reset() -> None:
    parser = Limited()
    assert run_parser(cast("Parser", parser), b"x") is None
    assert parser.resets == 1


@pytest.mark.parametrize("case", ["a/b.py=python", "x.h=cpp", "x.c=c", "x.tsx=tsx", "Makefile=", "x.zzz=", "a="])
def test_a_file_is_readable_if_its_grammar_is_installed(case: str) -> None:
    path, language = case.split("=")
    assert parsable_language(path) == (language or None)


def test_a_grammar_without_a_table_is_used_if_it_is_installed() -> None:
    assert (grammar_package("kotlin"), grammar_package("makefile")) == ("tree_sitter_kotlin", "tree_sitter_make")
    assert parse_tree(b"class A { }\n", "c_sharp").type == "compilation_unit"
    with pytest.raises(Unavailable, match="tree_sitter_kotlin"):
        parse_tree(b"", "kotlin")


def test_a_text_that_no_parser_copes_with_is_an_error() -> None:
    """Not one that merely takes long on a slow machine: its beginning takes a fast one six times what is allowed."""
    with pytest.raises(Exhausted, match="too long"):
        parse_tree(b"%w(" * 2000 + b"\n" * 100_000, "rust")
