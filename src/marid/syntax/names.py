"""What a node of a syntax tree defines: readers that give the kind and the dotted name of each thing."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from marid.syntax.nodes import nth, nth_named, text, word

if TYPE_CHECKING:
    from tree_sitter import Node

Named: TypeAlias = "tuple[str, str]"
"""A kind and a name."""
Reader: TypeAlias = "Callable[[Node, bytes], tuple[Named, ...]]"

CALLABLE = frozenset(("arrow_function", "function_expression", "generator_function"))
"""Values of JavaScript that are functions."""
# Nested arguments are taken off level by level, so a hostile name must not be long.
_LONGEST = 400
_ARGUMENTS = re.compile(r"<[^<>]*>")
_WRITTEN = re.compile(r"\s*(?:::|\\)\s*")


def dotted(name: str) -> str:
    """A qualified name of any language, dotted: `a::Shop<T>::f` is `a.Shop.f`, `a\\Shop` is `a.Shop`."""
    if name.isidentifier():
        return name[:_LONGEST]
    name = " ".join(name[:_LONGEST].split())
    if "operator" not in name:
        while name != (name := _ARGUMENTS.sub("", name)):
            pass
    return _WRITTEN.sub(".", name).strip(".\"'` ")


def named(kind: str, field: str = "name") -> Reader:
    """A reader for nodes whose name stands in a field; without that field nothing is defined."""

    def read(node: "Node", data: bytes) -> tuple[Named, ...]:
        name = dotted(word(node, field, data))
        return ((kind, name),) if name else ()

    return read


def each(kind: str, holder: str, field: str = "name") -> Reader:
    """A reader for declarations of several names, each in a child of type `holder`."""

    def read(node: "Node", data: bytes) -> tuple[Named, ...]:
        found = (_first(child, field, data) for child in _descend(node, holder))
        fixed = "constant" if _fixed(node, data) else kind
        return tuple((fixed, dotted(name).lstrip("$")) for name in found if name)

    return read


def _fixed(node: "Node", data: bytes) -> bool:
    """`const` in C#, `static final` in Java."""
    words = {word for child in node.children if "modifier" in child.type for word in text(child, data).split()}
    return "const" in words or {"static", "final"} <= words


def _first(node: "Node", field: str, data: bytes) -> str:
    return text(node.child_by_field_name(field) or nth_named(node), data)


def _descend(node: "Node", holder: str) -> "Iterator[Node]":
    for child in node.named_children:
        if child.type == holder:
            yield child
        elif child.type == "variable_declaration":  # C# puts one more node between
            yield from _descend(child, holder)


def capital(name: str) -> str:
    """Languages without constants write them in capitals."""
    return "constant" if name.isupper() else "variable"


def python_assignment(node: "Node", data: bytes) -> tuple[Named, ...]:
    """Names bound by a statement `a = …`, `a: T = …`, `a, b = …`."""
    assignment = nth(node, 0)
    if assignment is None or assignment.type != "assignment":
        return ()
    left = assignment.child_by_field_name("left")
    targets = left.named_children if left and left.type == "pattern_list" else [left]
    return tuple((capital(text(t, data)), text(t, data)) for t in targets if t and t.type == "identifier")


def go_method(node: "Node", data: bytes) -> tuple[Named, ...]:
    """`func (s *Shop[T]) Total()` is `Shop.Total`."""
    receiver = re.sub(r"\[.*", "", word(node, "receiver", data).strip("() "), flags=re.DOTALL)
    owner = receiver.replace("*", " ").split()[-1:]
    return (("method", ".".join([*owner, word(node, "name", data)])),)


def go_type(node: "Node", data: bytes) -> tuple[Named, ...]:
    """A named type: what it is stands behind the name."""
    behind = node.child_by_field_name("type")
    kind = {"struct_type": "struct", "interface_type": "interface"}.get(behind.type if behind else "", "type")
    return ((kind, word(node, "name", data)),)


def go_values(kind: str) -> Reader:
    """The names of one `const` or `var` line."""
    return lambda node, data: tuple(
        (kind, text(name, data)) for name in node.children_by_field_name("name") if name.is_named
    )


def default_or(kind: str) -> Reader:
    """A class or function that may lack a name, as in `export default class {}`."""
    return lambda node, data: ((kind, word(node, "name", data) or "default"),)


def script_variable(node: "Node", data: bytes) -> tuple[Named, ...]:
    """A JavaScript declarator or field: a function when its value is one."""
    found = node.child_by_field_name("name") or node.child_by_field_name("property")
    if found is None or found.type.endswith("_pattern"):
        return ()
    name = text(found, data)
    return ((script_kind(node.child_by_field_name("value"), capital(name)), name),)


def script_kind(value: "Node | None", other: str) -> str:
    """What a value makes of the name that it is given."""
    if value is None:
        return other
    if value.type in CALLABLE:
        return "function"
    return "class" if value.type == "class" else other


def script_pair(node: "Node", data: bytes) -> tuple[Named, ...]:
    """A member of an object literal, when it is a function."""
    kind = script_kind(node.child_by_field_name("value"), "")
    return ((kind, word(node, "key", data).strip("\"'")),) if kind else ()


def script_assignment(node: "Node", data: bytes) -> tuple[Named, ...]:
    """`exports.f = function …`, `Shop.prototype.total = …`, `module.exports = {…}`; others define nothing."""
    assignment = nth_named(node)
    if assignment is None or assignment.type != "assignment_expression":
        return ()
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    if left is None or left.type != "member_expression" or right is None:
        return ()
    name = text(left, data)
    kind = script_kind(right, "variable" if right.type == "object" and name.endswith("exports") else "")
    name = "".join(name.split()).removeprefix("module.").removeprefix("exports.")
    if ".prototype." in name and kind == "function":
        kind = "method"
    return ((kind, name.replace(".prototype.", ".")),) if kind else ()


def rust_impl(node: "Node", data: bytes) -> tuple[Named, ...]:
    """An `impl` block carries the name of the type that it is for."""
    of = dotted(word(node, "type", data)).split()
    return tuple(("impl", name) for name in of[-1:])


def ruby_assignment(node: "Node", data: bytes) -> tuple[Named, ...]:
    """`NAME = …`: only constants are definitions."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type not in ("constant", "scope_resolution"):
        return ()
    made = word(right, "receiver", data) in ("Class", "Data", "Module", "Struct")
    return (("class" if made else "constant", dotted(text(left, data))),)


def shell_variable(node: "Node", data: bytes) -> tuple[Named, ...]:
    """The names that an assignment or `declare`, `export`, `readonly` gives a value."""
    found = [node] if node.type == "variable_assignment" else node.named_children
    names = (word(each, "name", data) for each in found if each.type == "variable_assignment")
    return tuple((capital(name), name) for name in names)


def csharp_operator(node: "Node", data: bytes) -> tuple[Named, ...]:
    """`operator ==`, and `operator int` for a conversion."""
    sign = node.child_by_field_name("operator") or node.child_by_field_name("type")
    return (("method", "operator " + text(sign, data)),)


def csharp_destructor(node: "Node", data: bytes) -> tuple[Named, ...]:
    """`~Shop`, which would else have the name of the constructor."""
    return (("method", "~" + word(node, "name", data)),)


def csharp_indexer(_node: "Node", _data: bytes) -> tuple[Named, ...]:
    """`this[…]`."""
    return (("property", "this"),)
