"""Names in C and C++: in declarators, and as callers write them."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from marid.core.errors import BadInput
from marid.syntax.names import MAX_NAME_LENGTH, split_line_suffix
from marid.syntax.treesitter.name_readers import peel_declarator
from marid.syntax.treesitter.nodes import node_text
from marid.text.display import escape_text

if TYPE_CHECKING:
    from tree_sitter import Node

_IDENTIFIERS = frozenset(("identifier", "field_identifier", "type_identifier"))
# Keywords that the parser takes for names next to unknown macros.
_KEYWORDS = frozenset(("class", "const", "enum", "extern", "inline", "static", "struct", "typename", "union", "void"))
_CALL = re.compile(r"operator\s*\(\s*\)|[<>(]")
# Names with these come from broken code.
_NO_NAME = re.compile(r"[{};\\]")
_KEYWORD = re.compile(r"(struct|class|union|enum|namespace|typedef|concept|macro|#\s*define)\s+(?=\S)")
_TIGHT = re.compile(r"\s*([^\w\s])\s*")


def parse_declarator(node: "Node", data: bytes) -> "tuple[str, Node | None]":
    """The name that a declarator declares, or empty, and the part with the parameters of a function."""
    inner, function = peel_declarator(node)
    if inner is None:
        return "", None
    if inner.type not in _IDENTIFIERS:
        return _parse_unusual_name(inner, data, function)
    name = node_text(inner, data)
    return "" if name in _KEYWORDS else name, function


def _parse_unusual_name(node: "Node", data: bytes, function: "Node | None") -> "tuple[str, Node | None]":
    """Qualified names, operators, destructors, template arguments; conversion operators have their own parameters."""
    last = node
    while last.type == "qualified_identifier" and (inner := last.child_by_field_name("name")) is not None:
        last = inner
    if last.type == "operator_cast":
        return tidy(node_text(node, data)[:MAX_NAME_LENGTH].partition("(")[0]), function or last
    if last.type.endswith(("identifier", "template_function", "template_method", "_name", "primitive_type")):
        name = node_text(node, data)
        broken = len(name) > MAX_NAME_LENGTH or name.endswith("::") or _NO_NAME.search(name)
        return "" if broken else tidy(name), function
    return "", None


def tidy(name: str) -> str:
    """A name without needless white space: `Shop :: total` is `Shop::total`."""
    words = name.split()
    return words[0] if len(words) == 1 else _TIGHT.sub(r"\1", " ".join(words))


class NamePart(NamedTuple):
    """One step of a qualified name, and its template arguments, if any."""

    name: str
    arguments: str


def split_name(name: str) -> tuple[NamePart, ...]:
    """The steps of a qualified name: `a::Hash<b::C>::f` has three."""
    if name.isidentifier():
        return (NamePart(name, ""),)
    found: list[NamePart] = []
    depth = begin = at = 0
    while at < len(name):
        if name.startswith("operator", at) and depth == 0 and not name[at + 8 : at + 9].isalnum():
            break
        sign = name[at]
        depth += (sign == "<") - (sign == ">")
        if depth <= 0 and name.startswith("::", at):
            found.append(_parse_part(name[begin:at]))
            at, begin, depth = at + 1, at + 2, 0
        at += 1
    found.append(NamePart(name[begin:], "") if name.startswith("operator", begin) else _parse_part(name[begin:]))
    return tuple(part for part in found if part.name)


def _parse_part(step: str) -> NamePart:
    name, opened, arguments = step.partition("<")
    return NamePart(name.strip(), opened + arguments.strip())


@dataclass(frozen=True, kw_only=True)
class NameQuery:
    """A parsed query such as `Shop::at(int) const`, `struct stat`, `f@12` or `shop.Shop.total`."""

    text: str
    parts: tuple[NamePart, ...]
    parameters: str = ""
    """The tidied text from the opening parenthesis on; empty if none were given."""
    keyword: str = ""
    line: int = 0


def parse_name_query(asked: str) -> NameQuery:
    """Parse a name from a caller. Raises: BadInput if it is empty."""
    (name, line), keyword = split_line_suffix(" ".join(asked[:MAX_NAME_LENGTH].split())), ""
    if typed := _KEYWORD.match(name):
        name, keyword = name[typed.end() :], typed[1]
    name, parameters = _split_parameters(name)
    name = tidy(name)
    steps = split_name(name if "operator" in name else re.sub(r"\.(?=[A-Za-z_~])", "::", name))
    if not steps:
        raise BadInput("a name is needed, as in 'Shop', 'Shop::total' or 'total'")
    return NameQuery(
        text=escape_text(asked[:MAX_NAME_LENGTH]), parts=steps, parameters=tidy(parameters), keyword=keyword, line=line
    )


def _split_parameters(name: str) -> tuple[str, str]:
    """A name and its parameters; parentheses in template arguments and of `operator()` belong to the name."""
    depth = 0
    for match in _CALL.finditer(name):
        sign = match[0]
        if sign == "(" and depth <= 0:
            return name[: match.start()], name[match.start() :]
        if "operator" not in name:
            depth += (sign == "<") - (sign == ">")
    return name, ""
