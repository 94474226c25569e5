"""Trees of files in any language with a grammar."""

import pytest

from marid.core.errors import Exhausted, Unavailable
from marid.syntax.languages import LANGUAGES
from marid.syntax.treesitter.grammars import MAX_PARSE_BYTES
from marid.syntax.treesitter.parse_trees import grammar_package, parsable_language, parse_tree


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_of_ours_has_trees(language: str) -> None:
    assert parse_tree(b"x\n", language).end_byte >= 1


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
