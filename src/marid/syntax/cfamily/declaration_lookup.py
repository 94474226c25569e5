"""Find the declarations of a C or C++ file by name."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from marid.core.errors import BadInput, NotFound
from marid.syntax.cfamily.declarations import TYPE_KINDS, CDeclaration, CSource
from marid.syntax.cfamily.qualified_names import NamePart, NameQuery, parse_name_query, split_name, tidy
from marid.syntax.names import ambiguity_error, suggestion
from marid.syntax.treesitter.nodes import named_child_at, node_text
from marid.text.display import one_line

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_LINE_LENGTH = 160


def find_declarations(source: CSource, name: str, where: str) -> tuple[CDeclaration, ...]:
    """The declarations of a name in the file `where`: overloads, or the branches of a conditional.

    Prefers definitions to declarations, a type to its constructors, and a template to its specialisations.
    Raises: NotFound, BadInput if the name is ambiguous, and as `parse_tree`.
    """
    want = parse_name_query(name)
    found = _match_name(source, want)
    if want.line:
        ranges = ((item, *source.line_range(item)) for item in found)
        found = [item for item, first, last in ranges if first <= want.line <= last]
    if want.parameters:
        found = _match_parameters(found, want.parameters, source.data)
    if not found:
        known = (item.qualified_name for item in source.declarations if item.name)
        near = suggestion("::".join(part.name for part in want.parts), known, "::")
        raise NotFound(f"'{want.text}' is not defined in {where}{near}")
    found = _prefer_definitions(found, want)
    if len({_path_without_namespaces(item, source.namespaces) for item in found}) > 1:
        raise _ambiguity_error(source, found, want.text, where)
    return tuple(found)


def find_declaration(source: CSource, name: str, where: str) -> CDeclaration:
    """The only declaration of a name. Raises as `find_declarations`."""
    found = find_declarations(source, name, where)
    item, *others = found
    if others:
        raise _ambiguity_error(source, found, parse_name_query(name).text, where)
    return item


def _ambiguity_error(source: CSource, found: Sequence[CDeclaration], name: str, where: str) -> BadInput:
    choices = [
        f"'{item.qualified_name}@{source.line_range(item)[0]}': {one_line(source.signature(item), _MAX_LINE_LENGTH)}"
        for item in found
    ]
    return ambiguity_error(name, where, choices)


def _match_name(source: CSource, want: NameQuery) -> list[CDeclaration]:
    """The declarations that the whole name matches, else those that it matches without surrounding types."""
    last = want.parts[-1].name
    whole: list[CDeclaration] = []
    ending: list[CDeclaration] = []
    for item in source.declarations:
        if last not in item.name and not item.other_names:
            continue
        fits = max(
            _match_rank((*_scope_parts(item), *split_name(name)), want.parts, source.namespaces)
            for name in (item.name, *item.other_names)
        )
        if fits and _matches_keyword(item, want.keyword):
            (whole if fits > 1 else ending).append(item)
    return whole or ending


def _matches_keyword(item: CDeclaration, keyword: str) -> bool:
    if keyword == "typedef":
        return item.kind == "Type" or item.kind in TYPE_KINDS
    return not keyword or item.kind == ("Macro" if keyword.startswith("#") else keyword.capitalize())


def _scope_parts(item: CDeclaration) -> tuple[NamePart, ...]:
    return tuple(part for scope in item.scope for part in split_name(scope.name))


def _full_path(item: CDeclaration) -> tuple[NamePart, ...]:
    return (*_scope_parts(item), *split_name(item.name or "?"))


def _match_rank(path: tuple[NamePart, ...], want: tuple[NamePart, ...], spaces: frozenset[str]) -> int:
    """2 if only namespaces are omitted, 1 if surrounding types are too, 0 for no match."""
    left = list(want)
    for part in reversed(path):
        if left and left[-1].name == part.name and left[-1].arguments in ("", part.arguments):
            left.pop()
        elif part is path[-1] or (left and part.name not in spaces):
            return 0
        elif part.name not in spaces:
            return 1
    return 0 if left else 2


def _match_parameters(found: Iterable[CDeclaration], parameters: str, data: bytes) -> list[CDeclaration]:
    """The declarations with these parameters, written with or without names; an exact match wins."""
    forms = [(item, _parameter_forms(item, data)) for item in found]
    exact = [item for item, written in forms if parameters in written[:2]]
    return exact or [item for item, written in forms if parameters in written]


def _parameter_forms(item: CDeclaration, data: bytes) -> tuple[str, ...]:
    """`(int a) const`, `(int) const`, `(int a)`, `(int)`."""
    if item.function is None:
        return ()
    node = item.function.child_by_field_name("parameters")
    if node is None:  # a conversion operator
        return ("()",)
    kept = (child for child in node.children if child.type == "..." or (child.is_named and child.type != "comment"))
    types = ",".join(_parameter_type(child, data) for child in kept)
    bare = f"({types})"
    named = tidy(node_text(node, data))
    after = data[node.end_byte : item.function.end_byte].decode("utf-8", "replace").split("->")[0]
    return (tidy(named + after), tidy(bare + after), named, bare)


def _parameter_type(parameter: "Node", data: bytes) -> str:
    """A parameter without its name and default value."""
    value = parameter.child_by_field_name("default_value")
    end = value.start_byte if value else parameter.end_byte
    inner = parameter.child_by_field_name("declarator")
    while inner is not None and inner.type != "identifier":
        inner = inner.child_by_field_name("declarator") or named_child_at(inner, inner.named_child_count - 1)
    kept = data[parameter.start_byte : end]
    if inner is not None:
        kept = data[parameter.start_byte : inner.start_byte] + b" " + data[inner.end_byte : end]
    return tidy(kept.decode("utf-8", "replace")).rstrip("=").strip()


def _prefer_definitions(found: list[CDeclaration], want: NameQuery) -> list[CDeclaration]:
    """Prefer a type to its functions, a definition to a declaration, a template to its specialisations."""
    found = [item for item in found if item.kind != "Namespace"] or found
    if any(item.kind in TYPE_KINDS for item in found):
        found = [item for item in found if not _is_constructor(item)]
    if not want.parts[-1].arguments:
        found = [item for item in found if not split_name(item.name or "?")[-1].arguments] or found
    return [item for item in found if item.body is not None] or found


def _is_constructor(item: CDeclaration) -> bool:
    whole = _full_path(item)
    return item.kind == "Method" and len(whole) > 1 and whole[-1].name == whole[-2].name


def _path_without_namespaces(item: CDeclaration, spaces: frozenset[str]) -> tuple[str, ...]:
    whole = _full_path(item)
    return (*(part.name for part in whole[:-1] if part.name not in spaces), whole[-1].name)
