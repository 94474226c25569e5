"""Load grammars and parse. A grammar is loaded on first use and kept."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from time import thread_time
from typing import TYPE_CHECKING, cast
from warnings import catch_warnings

from marid.core.errors import Exhausted, Unavailable
from marid.syntax.languages import LANGUAGES, fence_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language, Node, Parser

MAX_PARSE_BYTES = 4 * 1024 * 1024
"""Larger files are data or generated code, and are not parsed."""
# Text of another language can take quadratic time: 60 kB of `<` take bash 7 s. So a sample of a larger file is parsed
# first, which takes 5 ms for code.
_SMALL_BYTES, _SAMPLE_BYTES = 64 * 1024, 16 * 1024
# A request for one file may take longer than a pack of many.
_SAMPLE_TIMEOUT, _PATIENT_SAMPLE_TIMEOUT = 0.05, 0.3
_TIMEOUT_MICROS = 10_000_000
# These parsers take linear time except on hostile text, so a sample is of little use.
_LINEAR_TIME = frozenset(("c", "cpp"))
# The packages and functions of grammars that are not `tree_sitter_LANGUAGE.language`.
_PACKAGES = {"bat": "batch", "csharp": "c_sharp", "makefile": "make", "objectivec": "objc", "protobuf": "proto"}
_PACKAGES["tsx"] = "typescript"
_FUNCTIONS = {"php": "language_php", "tsx": "language_tsx", "typescript": "language_typescript"}


def parsable_language(path: str) -> str | None:
    """The language of a file by its name, if its grammar is installed; loads no grammar."""
    language = fence_of(path)
    return language if language and (language in LANGUAGES or _is_installed(grammar_package(language))) else None


def grammar_package(language: str) -> str:
    """The package with the grammar of a language."""
    return "tree_sitter_" + _PACKAGES.get(language, language)


@cache
def _is_installed(name: str) -> bool:
    return find_spec(name) is not None


def parse(data: bytes, language: str, *, sample_timeout: float = _SAMPLE_TIMEOUT) -> "Node | None":
    """The root of the tree, with ERROR nodes for broken code. Raises: Unavailable if the grammar is not installed.

    None for an unknown language, a file above `MAX_PARSE_BYTES`, or a large text whose sample takes too long.
    """
    if language not in LANGUAGES or len(data) > MAX_PARSE_BYTES:
        return None
    parser = parser_for(language)
    if len(data) > _SMALL_BYTES:
        start = thread_time()
        run_parser(parser, data[:_SAMPLE_BYTES])
        if thread_time() - start > sample_timeout:
            return None
    return run_parser(parser, data)


def parse_tree(data: bytes, language: str) -> "Node":
    """The root of the tree, for any installed grammar. Raises: Exhausted if it takes too long, Unavailable."""
    if len(data) > MAX_PARSE_BYTES:
        raise Exhausted(f"larger than {MAX_PARSE_BYTES:,} bytes, too large to parse: read its lines instead")
    if language in LANGUAGES and language not in _LINEAR_TIME:
        root = parse(data, language, sample_timeout=_PATIENT_SAMPLE_TIMEOUT)
    else:
        root = run_parser(parser_for(language), data)
    if root is None:
        raise Exhausted("the parser takes too long for this text: read its lines instead")
    return root


def run_parser(parser: "Parser", data: bytes) -> "Node | None":
    """The root, or None if the parser exceeds its time limit."""
    try:
        return parser.parse(data).root_node
    except ValueError:
        parser.reset()
        return None


@cache
def parser_for(language: str) -> "Parser":
    """The parser of a language, with a time limit. Raises: Unavailable."""
    from tree_sitter import Parser  # imported on use: only parsing needs it

    make = cast("Callable[..., Parser]", Parser)  # its time limit is deprecated
    with catch_warnings(action="ignore"):
        grammar = load_grammar(grammar_package(language), _FUNCTIONS.get(language, "language"))
        return make(grammar, timeout_micros=_TIMEOUT_MICROS)


def load_grammar(package: str, function: str) -> "Language":
    """Load a grammar. Raises: Unavailable if the package is missing, or too old or too new for the parser."""
    try:
        from tree_sitter import Language  # imported on use: only parsing needs it

        grammar: object = getattr(import_module(package), function)()
        return Language(grammar)
    except (ImportError, AttributeError, ValueError) as error:
        raise Unavailable(f"cannot load the grammar '{package}': {error}") from error
