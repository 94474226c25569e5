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

LIMIT = 4 * 1024 * 1024
"""Bytes above which nothing is parsed: such files are data or generated."""
# Text that is not of the language can cost the square of its size: 60 kB of `<` take bash 7 s. So a larger file first
# shows its beginning, which takes code some 5 ms.
_SMALL, _SAMPLE = 64 * 1024, 16 * 1024
_SAMPLE_SECONDS = 0.05
_MICROSECONDS = 10_000_000


def parse(data: bytes, language: str, *, patience: float = _SAMPLE_SECONDS) -> "Node | None":
    """The root of the tree; broken code gives ERROR nodes in it.

    None for an unknown language, above `LIMIT`, and for a large text whose beginning takes over `patience` seconds.

    Raises:
        Unavailable: the grammar's package is not installed.
    """
    if language not in LANGUAGES or len(data) > LIMIT:
        return None
    parser = _parser(language)
    if len(data) > _SMALL and _seconds(parser, data[:_SAMPLE]) > patience:
        return None
    return run(parser, data)


def run(parser: "Parser", data: bytes) -> "Node | None":
    """Parses within the parser's own time limit, where it has one."""
    try:
        return parser.parse(data).root_node
    except ValueError:  # time is up
        parser.reset()
        return None


def _seconds(parser: "Parser", data: bytes) -> float:
    start = thread_time()
    run(parser, data)
    return thread_time() - start


@cache
def _parser(language: str) -> "Parser":
    from tree_sitter import Parser  # imported when used: only parsing needs it

    return limited(cast("Callable[..., Parser]", Parser), _language(language))


def limited(make: "Callable[..., Parser]", language: "Language") -> "Parser":
    """A parser that gives up after some seconds, if the library can (0.25 does, 0.26 no longer)."""
    try:
        with catch_warnings(action="ignore"):
            return make(language, timeout_micros=_MICROSECONDS)
    except TypeError:
        return make(language)


@cache
def _language(language: str) -> "Language":
    match language:
        case "csharp":
            return load("tree_sitter_c_sharp", "language")
        case "tsx" | "typescript":
            return load("tree_sitter_typescript", f"language_{language}")
        case "php":
            return load("tree_sitter_php", "language_php")
        case _:
            return load(f"tree_sitter_{language}", "language")


def load(package: str, function: str) -> "Language":
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
