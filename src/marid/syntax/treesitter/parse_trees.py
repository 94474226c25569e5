"""The tree of a file in any language that has a grammar installed, whether we know the language well or not."""

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from marid.core.errors import Exhausted
from marid.syntax.languages import LANGUAGES, fence_of
from marid.syntax.treesitter.grammars import MAX_PARSE_BYTES, load_grammar, make_parser, parse, run_parser

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# Seconds for the beginning of a text: more than for packing, since here somebody asked for this very file.
_SAMPLE_TIMEOUT = 0.3
# Whose parsers take time in proportion to any text that was not made to hurt them: a sample would tell little.
_LINEAR_TIME = frozenset(("c", "cpp"))
# Where the package of a grammar is not called as the language is.
_PACKAGES = {"makefile": "make", "objectivec": "objc", "protobuf": "proto", "ocaml": "ocaml", "bat": "batch"}


def parsable_language(path: str) -> str | None:
    """The language of a file, told by its name, if a grammar of it is installed; no grammar is loaded."""
    language = fence_of(path)
    return language if language and (language in LANGUAGES or _is_installed(grammar_package(language))) else None


def grammar_package(language: str) -> str:
    """The package that holds the grammar of a language which is not among ours."""
    return "tree_sitter_" + _PACKAGES.get(language, language)


@cache
def _is_installed(name: str) -> bool:
    return find_spec(name) is not None


def parse_tree(data: bytes, language: str) -> "Node":
    """The root of the tree; broken code gives ERROR nodes in it.

    Raises:
        Exhausted: the text is too large to parse, or the parser cannot cope with it.
        Unavailable: no grammar of this language is installed.
    """
    if len(data) > MAX_PARSE_BYTES:
        raise Exhausted(
            f"this text is larger than {MAX_PARSE_BYTES:,} bytes, too large to parse: read its lines instead"
        )
    sampled = language in LANGUAGES and language not in _LINEAR_TIME
    root = parse(data, language, sample_timeout=_SAMPLE_TIMEOUT) if sampled else run_parser(_parser(language), data)
    if root is None:
        raise Exhausted("this text takes the parser too long: read its lines instead")
    return root


@cache
def _parser(language: str) -> "Parser":
    from tree_sitter import Parser  # imported when used: only parsing needs it

    return make_parser(Parser, load_grammar(grammar_package(language), "language"))
