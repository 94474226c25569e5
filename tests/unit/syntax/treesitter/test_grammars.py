"""Grammars load, and nothing that is thrown at them takes long."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import pytest

from marid.core.errors import Exhausted, Unavailable
from marid.syntax.languages import LANGUAGES
from marid.syntax.treesitter.grammars import (
    MAX_PARSE_BYTES,
    grammar_package,
    load_grammar,
    make_parser,
    parsable_language,
    parse,
    parse_tree,
    run_parser,
)

if TYPE_CHECKING:
    from tree_sitter import Language, Parser


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_a_grammar_that_reads_nothing_and_nonsense(language: str) -> None:
    for data in (b"", b"\x00\xff\xfe (((", b"\xef\xbb\xbf"):
        root = parse(data, language)
        assert root is not None
        assert root.end_byte <= len(data)
        assert parse_tree(data, language).end_byte == root.end_byte


def test_an_unknown_language_is_not_parsed() -> None:
    assert parse(b"x", "cobol") is None


def test_more_than_four_megabytes_are_not_parsed() -> None:
    assert parse(b" " * (MAX_PARSE_BYTES + 1), "python") is None


def test_a_large_text_that_is_not_of_the_language_is_given_up_after_its_beginning() -> None:
    assert parse(b"# not java at all\n" * 4_000, "java", sample_timeout=0.02) is None


def test_a_large_file_of_code_is_parsed_whole() -> None:
    data = b"def f(a):\n    return a\n\n\n" * 4_000
    root = parse(data, "python", sample_timeout=60)
    assert root is not None
    assert root.child_count == 4_000


def test_patience_decides_whether_a_large_text_is_parsed() -> None:
    assert parse(b"x = 1\n" * 20_000, "python", sample_timeout=-1) is None


def test_a_missing_grammar_says_which() -> None:
    with pytest.raises(Unavailable, match="tree_sitter_klingon"):
        load_grammar("tree_sitter_klingon", "language")


def test_a_package_without_the_expected_function_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="'json'"):
        load_grammar("json", "language")


class Limited:
    """A parser that always runs out of time."""

    def __init__(self, language: object, timeout_micros: int) -> None:
        self.limit = timeout_micros
        self.resets = 0

    def parse(self, data: bytes) -> object:
        raise ValueError("Parsing failed")

    def reset(self) -> None:
        self.resets += 1


def test_a_parser_that_can_have_a_time_limit_gets_one() -> None:
    parser = make_parser(cast("Callable[..., Parser]", Limited), cast("Language", None))
    assert cast("Any", parser).limit > 0


def test_a_parser_that_knows_no_time_limit_works_without() -> None:
    def make(language: object) -> object:
        return "plain"

    assert make_parser(cast("Callable[..., Parser]", make), cast("Language", None)) == "plain"


def test_a_parser_whose_time_is_up_gives_nothing_and_starts_afresh() -> None:
    parser = Limited(None, 1)
    assert run_parser(cast("Parser", parser), b"x") is None
    assert parser.resets == 1


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("x.h", "cpp"),
        ("x.c", "c"),
        ("x.tsx", "tsx"),
        ("Makefile", None),
        ("x.zzz", None),
        ("a", None),
    ],
)
def test_a_file_is_readable_if_its_grammar_is_installed(path: str, language: str | None) -> None:
    assert parsable_language(path) == language


def test_packages_are_called_as_the_language_is_but_for_some() -> None:
    assert grammar_package("kotlin") == "tree_sitter_kotlin"
    assert grammar_package("makefile") == "tree_sitter_make"


def test_a_grammar_that_we_know_nothing_of_is_used_where_it_is_installed() -> None:
    # The package is there, and its name is none of a language of ours.
    assert parse_tree(b"class A { }\n", "c_sharp").type == "compilation_unit"


def test_a_language_without_a_grammar_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="tree_sitter_kotlin"):
        parse_tree(b"", "kotlin")


def test_a_text_that_is_too_large_is_an_error() -> None:
    with pytest.raises(Exhausted, match="larger than"):
        parse_tree(b" " * (MAX_PARSE_BYTES + 1), "python")


def test_a_text_that_no_parser_copes_with_is_an_error() -> None:
    """Not one that merely takes long on a slow machine: its beginning takes a fast one six times what is allowed."""
    with pytest.raises(Exhausted, match="too long"):
        parse_tree(b"%w(" * 2000 + b"\n" * 100_000, "rust")
