"""Grammars, loaded when a file of their language is first parsed, and kept."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from time import thread_time
from typing import TYPE_CHECKING, cast
from warnings import catch_warnings

from marid.core.errors import Unavailable
from marid.syntax.languages import LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

MAX_PARSE_BYTES = 4 * 1024 * 1024
"""Bytes above which nothing is parsed: such files are data or generated."""
# Text that is not of the language can cost the square of its size: 60 kB of `<` take bash 7 s. So a larger file first
# shows its beginning, which takes code some 5 ms.
_SMALL_BYTES, _SAMPLE_BYTES = 64 * 1024, 16 * 1024
_SAMPLE_TIMEOUT = 0.05
_TIMEOUT_MICROS = 10_000_000


def parse(data: bytes, language: str, *, sample_timeout: float = _SAMPLE_TIMEOUT) -> "Node | None":
    """The root of the tree; broken code gives ERROR nodes in it.

    None for an unknown language, above `LIMIT`, and for a large text whose beginning takes over `patience` seconds.

    Raises:
        Unavailable: the grammar's package is not installed.
    """
    if language not in LANGUAGES or len(data) > MAX_PARSE_BYTES:
        return None
    parser = _parser(language)
    if len(data) > _SMALL_BYTES and _parse_time(parser, data[:_SAMPLE_BYTES]) > sample_timeout:
        return None
    return run_parser(parser, data)


def run_parser(parser: "Parser", data: bytes) -> "Node | None":
    """Parses within the parser's own time limit, where it has one."""
    try:
        return parser.parse(data).root_node
    except ValueError:  # time is up
        parser.reset()
        return None


def _parse_time(parser: "Parser", data: bytes) -> float:
    start = thread_time()
    run_parser(parser, data)
    return thread_time() - start


@cache
def _parser(language: str) -> "Parser":
    from tree_sitter import Parser  # imported when used: only parsing needs it

    return make_parser(cast("Callable[..., Parser]", Parser), _load_language(language))


def make_parser(make: "Callable[..., Parser]", language: "Language") -> "Parser":
    """A parser that gives up after some seconds, if the library can (0.25 does, 0.26 no longer)."""
    try:
        with catch_warnings(action="ignore"):
            return make(language, timeout_micros=_TIMEOUT_MICROS)
    except TypeError:
        return make(language)


@cache
def _load_language(language: str) -> "Language":
    match language:
        case "csharp":
            return load_grammar("tree_sitter_c_sharp", "language")
        case "tsx" | "typescript":
            return load_grammar("tree_sitter_typescript", f"language_{language}")
        case "php":
            return load_grammar("tree_sitter_php", "language_php")
        case _:
            return load_grammar(f"tree_sitter_{language}", "language")


def load_grammar(package: str, function: str) -> "Language":
    """The grammar that `function` of `package` gives.

    Raises:
        Unavailable: the package is missing, or too old or too new for the parser.
    """
    try:
        from tree_sitter import Language  # imported when used: only parsing needs it

        grammar: object = getattr(import_module(package), function)()
        return Language(grammar)
    except (ImportError, AttributeError, ValueError) as error:
        raise Unavailable(f"the grammar '{package}' cannot be loaded: {error}") from error
