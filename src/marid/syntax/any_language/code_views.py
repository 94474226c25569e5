"""Outlines, skeletons and single definitions of files in any language: bytes in, text out."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from marid.core.errors import BadInput, Exhausted, NotFound
from marid.syntax.cfamily import source_views
from marid.syntax.languages import LANGUAGES
from marid.syntax.names import MAX_NAME_LENGTH, ambiguity_error, clip, split_line_suffix, suggestion
from marid.syntax.python.outline import py_outline
from marid.syntax.python.skeleton import py_skeleton
from marid.syntax.treesitter.code_parts import CodePart, code_parts
from marid.syntax.treesitter.grammars import parse_tree
from marid.syntax.treesitter.name_readers import to_dotted
from marid.syntax.treesitter.nodes import (
    CodeExcerpt,
    apply_cuts,
    child_at,
    first_row,
    last_row,
    line_start,
    named_child_at,
)
from marid.text.display import escape_text

if TYPE_CHECKING:
    from tree_sitter import Node

_CFAMILY = frozenset(("c", "cpp"))
_CALLABLE_KINDS = frozenset(("function", "method"))
_VALUE_KINDS = frozenset(("constant", "variable"))
_BLOCKS = frozenset(("block", "body_statement"))
_LINE_REST = re.compile(rb"[ \t]*[;,]?[ \t]*(?:(?:#|//|--)[^\n]*)?(?=\r?\n|\Z)")
_MAX_LINE_LENGTH = 160


def outline(data: bytes, language: str) -> str:
    """Everything outside function bodies, a line each: `[Kind] name (Lines X-Y)`, nested. Raises as `parse_tree`."""
    if language in _CFAMILY:
        return source_views.outline(data, language)
    if language == "python" and (text := _python_view(py_outline, data)) is not None:
        return text
    return "\n".join(_outline_lines(code_parts(data, parse_tree(data, language), language, nested=False)))


def _python_view(view: Callable[[bytes], str], data: bytes) -> str | None:
    """The view of the Python tools; None if the file does not parse, which tree-sitter forgives."""
    try:
        return view(data)
    except (BadInput, Exhausted):
        return None


def _outline_lines(parts: Iterable[CodePart]) -> Iterator[str]:
    """Names of members without those of their owners."""
    around: list[str] = []
    for part in parts:
        del around[part.depth :]
        name = part.name.removeprefix(around[-1] + ".") if around else part.name
        around.append(part.name)
        yield f"{'  ' * part.depth}[{part.kind.capitalize()}] {name} (Lines {part.first_line}-{part.last_line})"


def skeleton(data: bytes, language: str) -> str:
    """The file with `...` for the body of each function; docstrings are kept, long values mostly cut.

    For a language without a table it is the outline. Raises as `parse_tree`.
    """
    if language in _CFAMILY:
        return source_views.skeleton(data, language)
    if language not in LANGUAGES:
        return outline(data, language)
    if language == "python" and (text := _python_view(py_skeleton, data)) is not None:
        return text
    return apply_cuts(data, _skeleton_cuts(data, language))


def _skeleton_cuts(data: bytes, language: str) -> Iterator[tuple[int, int, bytes]]:
    for part in code_parts(data, parse_tree(data, language), language, nested=False):
        if part.kind in _CALLABLE_KINDS and part.body is not None:
            yield from _body_cuts(part.body, data, docstrings=language == "python")
        elif part.kind == "property" and part.body is not None:
            for accessor in part.body.children:
                if (held := accessor.child_by_field_name("body")) is not None:
                    yield from _body_cuts(held, data, docstrings=False)
        elif part.kind in _VALUE_KINDS and part.node is not None and (value := _long_value(part.node)) is not None:
            yield value.start_byte, value.end_byte, b"..."


def _body_cuts(body: "Node", data: bytes, *, docstrings: bool) -> Iterator[tuple[int, int, bytes]]:
    if data[body.start_byte : body.start_byte + 1] == b"{":
        yield body.start_byte, body.end_byte, b"{ ... }"
    elif docstrings and (said := _docstring_node(body)) is not None:
        begin = data.rfind(b"\n", 0, said.start_byte) + 1
        indent = data[begin : said.start_byte]
        yield said.end_byte, body.end_byte, b"\n" + indent + b"..." if indent.isspace() else b"; ..."
    elif body.type in _BLOCKS or last_row(body) > first_row(body):
        yield body.start_byte, body.end_byte, b"..."


def _docstring_node(body: "Node") -> "Node | None":
    statement = named_child_at(body)
    held = child_at(statement, 0) if statement and statement.type == "expression_statement" else None
    return held if held is not None and held.type in ("string", "concatenated_string") else None


def _long_value(node: "Node") -> "Node | None":
    """A value of more than a few lines."""
    held = node if node.child_by_field_name("value") else named_child_at(node) or node
    value = held.child_by_field_name("right") or held.child_by_field_name("value")
    return value if value is not None and last_row(value) > first_row(value) + 2 else None


def definition(data: bytes, language: str, name: str, where: str) -> CodeExcerpt:
    """The whole text of the definition that a name means in `where`, a path.

    The name is dotted or has `::`; surrounding names may be omitted; `name@12` is by line.
    Raises: NotFound, BadInput if the name is empty or ambiguous, and as `parse_tree`.
    """
    if language in _CFAMILY:
        return source_views.definition(data, language, name, where)
    part = _find_part(tuple(code_parts(data, parse_tree(data, language), language)), name, where)
    start = line_start(data, part.start_byte)
    rest = (
        _LINE_REST.match(data, part.end_byte)
        if start < part.start_byte or data[start - 1 : start] in (b"\n", b"")
        else None
    )
    end = rest.end() if rest else part.end_byte
    return CodeExcerpt(text=data[start:end].decode("utf-8", "replace"), spans=((part.first_line, part.last_line),))


def _find_part(parts: Sequence[CodePart], name: str, where: str) -> CodePart:
    asked, line = split_line_suffix(name.strip()[:MAX_NAME_LENGTH])
    wanted, shown = to_dotted(asked), escape_text(name[:MAX_NAME_LENGTH])
    if not wanted:
        raise BadInput("a name is needed, as in 'Shop', 'Shop.total' or 'total'")
    found = [part for part in parts if part.name == wanted] or [p for p in parts if p.name.endswith("." + wanted)]
    found = _prefer_definitions([part for part in found if not line or part.first_line <= line <= part.last_line])
    if not found:
        raise NotFound(f"'{shown}' is not defined in {where}{suggestion(wanted, (part.name for part in parts))}")
    if len(found) > 1:
        raise ambiguity_error(shown, where, [_choice(part) for part in found])
    return found[0]


def _prefer_definitions(found: list[CodePart]) -> list[CodePart]:
    """A type rather than its constructors or implementations, a body rather than a declaration."""
    names = {part.name for part in found}
    found = [part for part in found if part.name.rpartition(".")[0] not in names] or found
    found = [part for part in found if part.kind != "impl"] or found
    return [part for part in found if part.body is not None] or found


def _choice(part: CodePart) -> str:
    return clip(f"'{part.name}@{part.first_line}': {part.signature or part.kind}", _MAX_LINE_LENGTH)
