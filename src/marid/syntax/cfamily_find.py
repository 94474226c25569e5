"""Which of a file's items a name means."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from marid.core.errors import BadInput, NotFound
from marid.syntax.cfamily_items import MEMBERED, Item, Source, namespaces
from marid.syntax.cfamily_names import Part, Wanted, parts, tidy, wanted
from marid.syntax.cfamily_spans import declaration, lines
from marid.syntax.nodes import nth_named, text

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_LISTED = 8
_KEYWORDS = {
    "struct": {"Struct"},
    "class": {"Class"},
    "union": {"Union"},
    "enum": {"Enum"},
    "namespace": {"Namespace"},
    "typedef": {"Type", *MEMBERED},
    "concept": {"Concept"},
    "macro": {"Macro"},
}


def find(source: Source, name: str, where: str) -> tuple[Item, ...]:
    """The items of one name: several are overloads, or the branches of a conditional.

    Definitions go before declarations, a type before its constructors, what is general before what is specialised.

    Raises:
        NotFound: nothing has this name; the nearest names are told.
        BadInput: it could be several things.
    """
    want = wanted(name)
    spaces = namespaces(source.items)
    found = _named(source, want, spaces)
    if want.line:
        found = [item for item in found if _around(item, source, want.line)]
    if want.parameters:
        found = _called(found, want.parameters, source.data)
    if not found:
        raise NotFound(f"'{want.asked}' is not defined in {where}{_nearest(source.items, want)}")
    found = _preferred(found, want)
    if len({_path(item, spaces) for item in found}) > 1:
        raise _ambiguous(source, found, want.asked, where)
    return tuple(found)


def one(source: Source, name: str, where: str) -> Item:
    """The only item of a name.

    Raises:
        NotFound: nothing has this name.
        BadInput: it is ambiguous.
    """
    found = find(source, name, where)
    item, *others = found
    if others:
        raise _ambiguous(source, found, wanted(name).asked, where)
    return item


def _ambiguous(source: Source, found: Sequence[Item], name: str, where: str) -> BadInput:
    """The error that tells how to ask for each."""
    told = [f"'{full(item)}@{lines(item, source)[0]}': {declaration(item, source)}" for item in found[:_MOST_LISTED]]
    more = [f"and {len(found) - _MOST_LISTED} more"] if len(found) > _MOST_LISTED else []
    return BadInput("\n  ".join((f"'{name}' is ambiguous in {where}, ask for one of:", *told, *more)))


def full(item: Item) -> str:
    """The qualified name."""
    return "::".join(name for name in (*(scope.name for scope in item.scope), item.name) if name)


def _named(source: Source, want: Wanted, spaces: frozenset[str]) -> list[Item]:
    """Those that the name fits whole; else those that it fits when surrounding types are omitted."""
    last = want.parts[-1].name
    whole: list[Item] = []
    ending: list[Item] = []
    for item in source.items:
        if last not in item.name and not item.also:
            continue
        fits = max(_fit((*_around_parts(item), *parts(name)), want.parts, spaces) for name in (item.name, *item.also))
        if fits and _of_keyword(item, want.keyword):
            (whole if fits > 1 else ending).append(item)
    return whole or ending


def _of_keyword(item: Item, keyword: str) -> bool:
    return not keyword or item.kind in _KEYWORDS.get(keyword, {"Macro"})


def _around_parts(item: Item) -> tuple[Part, ...]:
    return tuple(part for scope in item.scope for part in parts(scope.name))


def _fit(path: tuple[Part, ...], want: tuple[Part, ...], spaces: frozenset[str]) -> int:
    """2: all but namespaces is asked for. 1: the end of the path is. 0: something else is."""
    left = list(want)
    for part in reversed(path):
        if left and left[-1].name == part.name and left[-1].arguments in ("", part.arguments):
            left.pop()
        elif part is path[-1] or (left and part.name not in spaces):
            return 0
        elif part.name not in spaces:
            return 1
    return 0 if left else 2


def _around(item: Item, source: Source, line: int) -> bool:
    first, last = lines(item, source)
    return first <= line <= last


def _called(found: Iterable[Item], parameters: str, data: bytes) -> list[Item]:
    """Those with these parameters, written with or without their names; the whole text decides between several."""
    fitting = [item for item in found if parameters in _forms(item, data)]
    exact = [item for item in fitting if parameters in _forms(item, data)[:2]]
    return exact or fitting


def _forms(item: Item, data: bytes) -> tuple[str, ...]:
    """`(int a) const`, `(int) const`, `(int a)`, `(int)`."""
    if item.function is None:
        return ()
    node = item.function.child_by_field_name("parameters")
    if node is None:  # a conversion operator
        return ("()",)
    kept = (child for child in node.children if child.type == "..." or (child.is_named and child.type != "comment"))
    types = ",".join(_type(child, data) for child in kept)
    bare = f"({types})"
    named = tidy(text(node, data))
    after = data[node.end_byte : item.function.end_byte].decode("utf-8", "replace").split("->")[0]
    return (tidy(named + after), tidy(bare + after), named, bare)


def _type(parameter: "Node", data: bytes) -> str:
    """A parameter without its name and default value."""
    declarator = parameter.child_by_field_name("declarator")
    end = parameter.end_byte
    if value := parameter.child_by_field_name("default_value"):
        end = value.start_byte
    inner = declarator
    while inner is not None and inner.type != "identifier":
        inner = inner.child_by_field_name("declarator") or nth_named(inner, inner.named_child_count - 1)
    kept = data[parameter.start_byte : end]
    if inner is not None:
        kept = data[parameter.start_byte : inner.start_byte] + b" " + data[inner.end_byte : end]
    return tidy(kept.decode("utf-8", "replace")).rstrip("=").strip()


def _preferred(found: list[Item], want: Wanted) -> list[Item]:
    """A type rather than functions, what is defined rather than declared, what is general rather than special."""
    found = [item for item in found if item.kind != "Namespace"] or found
    if any(item.kind in MEMBERED for item in found):
        found = [item for item in found if not _constructs(item)]
    if not want.parts[-1].arguments:
        found = [item for item in found if not parts(item.name or "?")[-1].arguments] or found
    return [item for item in found if item.body is not None] or found


def _constructs(item: Item) -> bool:
    whole = (*_around_parts(item), *parts(item.name or "?"))
    return item.kind == "Method" and len(whole) > 1 and whole[-1].name == whole[-2].name


def _path(item: Item, spaces: frozenset[str]) -> tuple[str, ...]:
    whole = (*_around_parts(item), *parts(item.name or "?"))
    return (*(part.name for part in whole[:-1] if part.name not in spaces), whole[-1].name)


def _nearest(items: Sequence[Item], want: Wanted) -> str:
    from difflib import get_close_matches  # imported when used: only a wrong name needs it

    names = {parts(item.name)[-1].name.lower(): full(item) for item in reversed(items) if item.name}
    close = get_close_matches(want.parts[-1].name.lower(), list(names)[:5000], n=4, cutoff=0.5)
    return "; the nearest names: " + ", ".join(names[each] for each in close) if close else ""
