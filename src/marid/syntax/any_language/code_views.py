"""Outlines, skeletons and single definitions of files in any language: bytes in, text out."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from marid.core.errors import BadInput, Exhausted, NotFound
from marid.syntax.cfamily import source_views
from marid.syntax.languages import LANGUAGES
from marid.syntax.names import MAX_NAME_LENGTH, ambiguity_error, split_line_suffix, suggestion
from marid.syntax.python.source_views import py_outline, py_skeleton
from marid.syntax.treesitter.definitions import (
    CALLABLE_KINDS,
    VALUE_KINDS,
    Definition,
    LocatedDefinition,
    locate_definitions,
)
from marid.syntax.treesitter.grammars import parse_tree
from marid.syntax.treesitter.name_readers import to_dotted
from marid.syntax.treesitter.nodes import (
    CodeExcerpt,
    cut_pieces,
    first_row,
    last_row,
    line_start,
    named_child_at,
)
from marid.syntax.treesitter.signatures import docstring_node
from marid.text.display import clip, escape_text

if TYPE_CHECKING:
    from tree_sitter import Node

_CFAMILY = frozenset(("c", "cpp"))
_BLOCKS = frozenset(("block", "body_statement"))
_LINE_REST = re.compile(rb"[ \t]*[;,]?[ \t]*(?:(?:#|//|--)[^\n]*)?(?=\r?\n|\Z)")
_MAX_LINE_LENGTH = 160


def outline(data: bytes, language: str) -> str:
    """Everything outside function bodies, a line each: `[Kind] name (Lines X-Y)`, nested. Raises as `parse_tree`."""
    if language in _CFAMILY:
        return source_views.outline(data, language)
    if language == "python":
        with suppress(BadInput, Exhausted):  # tree-sitter tolerates a file that does not parse
            return py_outline(data)
    found = locate_definitions(data, parse_tree(data, language), language, nested=False)
    return "\n".join(_outline_lines(definition for definition, _ in found))


def _outline_lines(definitions: Iterable[Definition]) -> Iterator[str]:
    """A line each; the names of members do not repeat those of their owners."""
    owners: list[str] = []
    for each in definitions:
        del owners[each.depth :]
        name = each.name.removeprefix(owners[-1] + ".") if owners else each.name
        owners.append(each.name)
        yield f"{'  ' * each.depth}[{each.kind.capitalize()}] {name} (Lines {each.start}-{each.end})"


def skeleton(data: bytes, language: str) -> str:
    """The file with `...` for the body of each function and for most long values; docstrings are kept.

    For a language without a table it is the outline. Raises as `parse_tree`.
    """
    if language in _CFAMILY:
        return source_views.skeleton(data, language)
    if language not in LANGUAGES:
        return outline(data, language)
    if language == "python":
        with suppress(BadInput, Exhausted):
            return py_skeleton(data)
    return b"".join(cut_pieces(data, _skeleton_cuts(data, language))).decode("utf-8", "replace")


def _skeleton_cuts(data: bytes, language: str) -> Iterator[tuple[int, int, bytes]]:
    for found, site in locate_definitions(data, parse_tree(data, language), language, nested=False):
        if found.kind in CALLABLE_KINDS and site.body is not None:
            yield from _body_cuts(site.body, data, docstrings=language == "python")
        elif found.kind == "property" and site.body is not None:
            for accessor in site.body.children:
                if (body := accessor.child_by_field_name("body")) is not None:
                    yield from _body_cuts(body, data, docstrings=False)
        elif found.kind in VALUE_KINDS and (value := _long_value(site.node)) is not None:
            yield value.start_byte, value.end_byte, b"..."


def _body_cuts(body: "Node", data: bytes, *, docstrings: bool) -> Iterator[tuple[int, int, bytes]]:
    if data[body.start_byte : body.start_byte + 1] == b"{":
        yield body.start_byte, body.end_byte, b"{ ... }"
    elif docstrings and (string := docstring_node(body)) is not None:
        indent = data[data.rfind(b"\n", 0, string.start_byte) + 1 : string.start_byte]
        yield string.end_byte, body.end_byte, b"\n" + indent + b"..." if indent.isspace() else b"; ..."
    elif body.type in _BLOCKS or last_row(body) > first_row(body):
        yield body.start_byte, body.end_byte, b"..."


def _long_value(node: "Node") -> "Node | None":
    """The value, if it takes more than three lines."""
    owner = node if node.child_by_field_name("value") else named_child_at(node) or node
    value = owner.child_by_field_name("right") or owner.child_by_field_name("value")
    return value if value is not None and last_row(value) > first_row(value) + 2 else None


def definition(data: bytes, language: str, name: str, where: str) -> CodeExcerpt:
    """The text of a definition, named as in `Shop.total`, `Shop::total` or `total@12`. Raises: NotFound, BadInput."""
    if language in _CFAMILY:
        return source_views.definition(data, language, name, where)
    found, site = _find_definition(tuple(locate_definitions(data, parse_tree(data, language), language)), name, where)
    start, end = line_start(data, site.first_byte), site.end_byte
    starts_line = start < site.first_byte or data[start - 1 : start] in (b"\n", b"")
    if starts_line and (rest := _LINE_REST.match(data, end)):
        end = rest.end()
    return CodeExcerpt(text=data[start:end].decode("utf-8", "replace"), spans=((found.start, found.end),))


def _find_definition(known: Sequence[LocatedDefinition], name: str, where: str) -> LocatedDefinition:
    asked, line = split_line_suffix(name.strip()[:MAX_NAME_LENGTH])
    wanted, shown = to_dotted(asked), escape_text(name[:MAX_NAME_LENGTH])
    if not wanted:
        raise BadInput("a name is needed, as in 'Shop', 'Shop.total' or 'total'")
    found = [each for each in known if each.definition.name == wanted]
    found = found or [each for each in known if each.definition.name.endswith("." + wanted)]
    found = [each for each in found if not line or each.definition.start <= line <= each.definition.end]
    found = _prefer_definitions(found)
    if not found:
        names = (each.definition.name for each in known)
        raise NotFound(f"'{shown}' is not defined in {where}{suggestion(wanted, names)}")
    if len(found) > 1:
        choices = (f"'{each.name}@{each.start}': {each.signature or each.kind}" for each, _ in found)
        raise ambiguity_error(shown, where, [clip(choice, _MAX_LINE_LENGTH) for choice in choices])
    return found[0]


def _prefer_definitions(found: list[LocatedDefinition]) -> list[LocatedDefinition]:
    """Prefer a type to its constructors or implementations, and a body to a declaration."""
    names = {each.definition.name for each in found}
    found = [each for each in found if each.definition.name.rpartition(".")[0] not in names] or found
    found = [each for each in found if each.definition.kind != "impl"] or found
    return [each for each in found if each.site.body is not None] or found
