"""Where an identifier is used in code, outside comments and strings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from marid.core.errors import BadInput
from marid.syntax.cfamily.declarations import list_declarations
from marid.syntax.cfamily.qualified_names import split_name
from marid.syntax.treesitter.definitions import locate_definitions
from marid.syntax.treesitter.grammars import parse_tree
from marid.text.display import clip

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = re.compile(r"[$@~#]*(?:.*(?:\.|::|->|#|\\))?[$@~]*([^\W\d]\w*[?!]?)", re.DOTALL)
_MAX_NAME_LENGTH, _MAX_LINE_LENGTH = 200, 120
_MAX_REFERENCES = 5000
_WITH_DOLLAR = frozenset(("java", "javascript", "tsx", "typescript"))
# Types of leaves that are not code. Interpolated code in a string has its own leaves.
_NON_CODE = re.compile(
    r"comment|string|heredoc|char(?:acter)?(?:_literal)?(?:_content|_fragment)?$|regex|^(?:jsx_)?text$|template_chars"
)
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*"?')


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A line of code that contains the word."""

    line: int
    text: str
    is_definition: bool


def target_identifier(name: str) -> str:
    """The identifier to look for: the last part of a qualified name. Raises: BadInput."""
    found = _NAME.fullmatch(name.strip()) if len(name) <= _MAX_NAME_LENGTH else None
    if found is None:
        raise BadInput("a name is needed: one identifier, or a qualified one such as Shop.total or Shop::total")
    return found[1]


@cache
def _word_pattern(word: str, *, dollar: bool) -> re.Pattern[bytes]:
    """A pattern for the whole word in UTF-8; with `dollar`, `$` counts as a letter."""
    letter = rb"[\w\x80-\xff$]" if dollar else rb"[\w\x80-\xff]"
    more = b"" if word[-1] in "?!" else rb"(?![?!](?!=))" if not dollar else b""
    return re.compile(rb"(?<!" + letter + rb")" + re.escape(word.encode()) + rb"(?!" + letter + rb")" + more)


def code_references(data: bytes, language: str, word: str) -> tuple[Reference, ...]:
    """The lines where the word is code, each once, and whether they define it. Raises as `parse_tree`."""
    pattern = _word_pattern(word, dollar=language in _WITH_DOLLAR)
    offsets = [match.start() for match in pattern.finditer(data)][:_MAX_REFERENCES]
    if not offsets:
        return ()
    root, size = parse_tree(data, language), len(word.encode())
    offsets = [at for at in offsets if _is_code(root.descendant_for_byte_range(at, at + size), data, at)]
    defining = _definition_ranges(data, root, language, word) if offsets else []
    marked = {next((at for at in offsets if start <= at < end), -1) for start, end in defining}
    return tuple(_reference_lines(data, offsets, marked))


def _is_code(leaf: "Node | None", data: bytes, at: int) -> bool:
    if leaf is None or _NON_CODE.search(leaf.type):
        return False
    if leaf.type == "preproc_arg":  # the text of a macro is not parsed
        return not any(
            match.start() <= at < match.end() for match in _STRING.finditer(data, leaf.start_byte, leaf.end_byte)
        )
    return True


def _definition_ranges(data: bytes, root: "Node", language: str, word: str) -> list[tuple[int, int]]:
    """From where each definition of the word starts to where its body starts."""
    if language in ("c", "cpp"):
        return [
            (item.node.start_byte, item.body.start_byte if item.body else item.node.end_byte)
            for item in list_declarations(data, root)
            if item.name and split_name(item.name)[-1].name == word
        ]
    return [
        (site.first_byte, site.body.start_byte if site.body else site.end_byte)
        for found, site in locate_definitions(data, root, language)
        if found.name.rpartition(".")[2] == word
    ]


def _reference_lines(data: bytes, offsets: list[int], marked: set[int]) -> Iterator[Reference]:
    """The lines at these offsets; of a long line the part near the word."""
    begins = {data.rfind(b"\n", 0, mark) + 1 for mark in marked if mark >= 0}
    line, counted, seen = 1, 0, 0
    for at in offsets:
        line += data.count(b"\n", counted, at)
        counted = at
        if line > seen:
            seen, begin = line, data.rfind(b"\n", 0, at) + 1
            near = data[max(begin, at - _MAX_LINE_LENGTH) : at + _MAX_LINE_LENGTH * 4].partition(b"\n")[0]
            text = clip(near.decode("utf-8", "replace").strip(), _MAX_LINE_LENGTH * 2)
            yield Reference(line=line, text=text, is_definition=begin in begins)
