"""Where a word stands in code: not in comments, not in strings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from marid.core.errors import BadInput
from marid.syntax.cfamily_items import items
from marid.syntax.cfamily_names import parts
from marid.syntax.code_parts import code_parts
from marid.syntax.code_trees import tree

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = re.compile(r"[$@~#]*(?:.*(?:\.|::|->|#|\\))?[$@~]*([^\W\d]\w*[?!]?)", re.DOTALL)
_LONGEST_NAME, _LONGEST_LINE = 200, 120
_MOST = 5000
_WITH_DOLLAR = frozenset(("java", "javascript", "tsx", "typescript"))
# Types of leaves that are no code. What stands between `${` and `}` in a string has leaves of its own.
_SAID = re.compile(
    r"comment|string|heredoc|char(?:acter)?(?:_literal)?(?:_content|_fragment)?$|regex|^(?:jsx_)?text$|template_chars"
)
_QUOTED = re.compile(rb'"(?:[^"\\\n]|\\.)*"?')


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A line of code that holds the word."""

    line: int
    text: str
    defines: bool


def word(name: str) -> str:
    """The word that is looked for: the last part of a qualified name.

    Raises:
        BadInput: it is no name.
    """
    found = _NAME.fullmatch(name.strip()) if len(name) <= _LONGEST_NAME else None
    if found is None:
        raise BadInput("a name is needed: one identifier, or a qualified one such as Shop.total or Shop::total")
    return found[1]


@cache
def pattern(word: str, *, dollar: bool) -> re.Pattern[bytes]:
    """The whole word in bytes of UTF-8; `dollar` says that `$` is a letter."""
    letter = rb"[\w\x80-\xff$]" if dollar else rb"[\w\x80-\xff]"
    more = b"" if word[-1] in "?!" else rb"(?![?!](?!=))" if not dollar else b""
    return re.compile(rb"(?<!" + letter + rb")" + re.escape(word.encode()) + rb"(?!" + letter + rb")" + more)


def maybe(data: bytes, word: str) -> bool:
    """Whether the file is worth parsing."""
    return word.encode() in data


def code_references(data: bytes, language: str, word: str) -> tuple[Reference, ...]:
    """The lines where the word is code, once each, those that define it marked; at most some thousands.

    Raises:
        Exhausted: the file cannot be parsed.
        Unavailable: no grammar of this language is installed.
    """
    places = [match.start() for match in _pattern(word, language).finditer(data)][:_MOST]
    if not places:
        return ()
    root, size = tree(data, language), len(word.encode())
    places = [at for at in places if _is_code(root.descendant_for_byte_range(at, at + size), data, at)]
    defining = _defining(data, root, language, word) if places else []
    marked = {next((at for at in places if start <= at < end), -1) for start, end in defining}
    return tuple(_lines(data, places, marked))


def _pattern(word: str, language: str) -> re.Pattern[bytes]:
    return pattern(word, dollar=language in _WITH_DOLLAR)


def _is_code(leaf: "Node | None", data: bytes, at: int) -> bool:
    if leaf is None or _SAID.search(leaf.type):
        return False
    if leaf.type == "preproc_arg":  # a macro's text is not parsed
        return not any(
            match.start() <= at < match.end() for match in _QUOTED.finditer(data, leaf.start_byte, leaf.end_byte)
        )
    return True


def _defining(data: bytes, root: "Node", language: str, word: str) -> list[tuple[int, int]]:
    """Where definitions of the word begin, and where their bodies do."""
    if language in ("c", "cpp"):
        return [
            (item.node.start_byte, item.body.start_byte if item.body else item.node.end_byte)
            for item in items(data, root)
            if item.name and parts(item.name)[-1].name == word
        ]
    return [
        (part.start, part.body.start_byte if part.body else part.end)
        for part in code_parts(data, root, language)
        if part.name.rpartition(".")[2] == word
    ]


def _lines(data: bytes, places: list[int], marked: set[int]) -> Iterator[Reference]:
    begins = {data.rfind(b"\n", 0, mark) + 1 for mark in marked if mark >= 0}
    line, counted, seen = 1, 0, 0
    for at in places:
        line += data.count(b"\n", counted, at)
        counted = at
        if line > seen:
            seen, begin = line, data.rfind(b"\n", 0, at) + 1
            yield Reference(line=line, text=_shown(data, begin, at), defines=begin in begins)


def _shown(data: bytes, begin: int, at: int) -> str:
    """The line, or what of it is near the word if it is long."""
    end = data.find(b"\n", at)
    near = data[max(begin, at - _LONGEST_LINE) : min(end if end >= 0 else len(data), at + _LONGEST_LINE * 4)]
    text = near.decode("utf-8", "replace").strip()
    return text if len(text) <= _LONGEST_LINE * 2 else text[: _LONGEST_LINE * 2 - 1] + "…"
