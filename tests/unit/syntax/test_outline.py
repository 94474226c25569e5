"""Outlines are short, nested and honest about lines."""

import keyword
import re
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.syntax.languages import LANGUAGES
from marid.syntax.outline import identifiers, outline
from marid.syntax.treesitter.grammars import MAX_PARSE_BYTES

STDLIB = Path(sysconfig.get_paths()["stdlib"])


def test_a_python_file_in_a_few_lines() -> None:
    source = b'''\
"""A module."""
import os

LIMIT = 3


@register
class Shop(Base):
    """Sells things.

    Many of them.
    """

    name: str

    @property
    def total(
        self,
        items: list[int],
    ) -> int:
        """Sums."""
        def inner():
            pass
        return sum(items)


async def main(): ...
'''
    assert outline(source, "python") == (
        "7-24 @register class Shop(Base):  # Sells things.\n"
        "  14 name: str\n"
        "  16-24 @property def total(self, items: list[int],) -> int:  # Sums.\n"
        "27 async def main():\n"
    )


def test_other_languages_have_their_own_comment_sign() -> None:
    source = b"package a\n\n// Opens the shop and lets everybody in.\nfunc Open(name string) error {\n\treturn nil\n}\n"
    assert outline(source, "go") == "4-6 func Open(name string) error  // Opens the shop and lets everybody in.\n"


def test_long_decorators_and_docs_are_cut() -> None:
    source = f'@d({", ".join("abcdefgh" * 9)})\ndef f():\n    """{"word " * 60}"""\n'.encode() + b"    x = 1\n" * 20
    line = outline(source, "python")
    assert line is not None
    assert len(line) < 200
    assert line.count("…") == 2


@pytest.mark.parametrize(
    ("data", "language"),
    [
        (b"def f(): pass\n", "cobol"),
        (b"# nothing here\n", "python"),
        (b"", "python"),
        (b"def f():0\n", "python"),
        (b"def f():\n    return 1\n" + b"#" * MAX_PARSE_BYTES, "python"),
    ],
)
def test_unknown_empty_short_and_huge_files_have_no_outline(data: bytes, language: str) -> None:
    assert outline(data, language) is None


def test_a_file_of_constants_is_outlined_by_its_constants() -> None:
    source = (
        b"# All the settings that there are, with all the reasons that there are for them.\nLIMIT = 1\nNAME = 'x'\n"
    )
    assert outline(source, "python") == "2 LIMIT = 1\n3 NAME = 'x'\n"


def test_outlines_of_the_standard_library_are_a_tenth_of_it_and_their_lines_are_right() -> None:
    whole = short = 0
    for name in ("argparse", "dataclasses", "functools", "inspect", "socket", "subprocess", "tarfile", "typing"):
        data = (STDLIB / f"{name}.py").read_bytes()
        text = outline(data, "python")
        assert text is not None
        whole, short = whole + len(data), short + len(text.encode())
        lines = data.decode().split("\n")
        for number, word in re.findall(r"^ *(\d+)(?:-\d+)? (@|def|class|async)", text, re.MULTILINE):
            assert lines[int(number) - 1].lstrip().startswith(word)
    assert short < 0.16 * whole


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.binary(max_size=200))
def test_an_outline_is_always_shorter_than_the_file(language: str, data: bytes) -> None:
    text = outline(data, language)
    assert text is None or 0 < len(text.encode()) < len(data)


@pytest.mark.parametrize(
    ("language", "source", "word"),
    [
        ("javascript", "$('a')", "$"),
        ("tsx", "a$b", "a$b"),
        ("ruby", "list.empty?", "empty?"),
        ("php", "$shop->total()", "shop"),
        ("python", "größe = 1", "größe"),
        ("cobol", "MOVE A TO B", "MOVE"),
    ],
)
def test_references_know_what_a_word_is_in_a_language(language: str, source: str, word: str) -> None:
    assert word in identifiers(source.encode(), language)


def test_a_huge_file_refers_to_nothing() -> None:
    assert identifiers(b"a " * MAX_PARSE_BYTES, "python") == frozenset()


@given(st.lists(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True), max_size=20))
def test_every_identifier_is_found(words: list[str]) -> None:
    source = " + ".join(word for word in words if not keyword.iskeyword(word))
    assert identifiers(source.encode(), "python") == set(source.replace("+", " ").split())
