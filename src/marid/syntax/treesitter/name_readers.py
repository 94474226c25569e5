"""Read the kind and dotted name of each definition from a node."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from marid.syntax.treesitter.nodes import child_at, field_text, named_child_at, node_text

if TYPE_CHECKING:
    from tree_sitter import Node

KindAndName: TypeAlias = "tuple[str, str]"
Names: TypeAlias = "tuple[KindAndName, ...]"
NameReader: TypeAlias = "Callable[[Node, bytes], Names]"

SCRIPT_FUNCTIONS = frozenset(("arrow_function", "function_expression", "generator_function"))
"""JavaScript expressions that are functions."""
# Nested arguments are removed level by level, so a hostile name must not be long.
_MAX_NAME_LENGTH = 400
_ARGUMENTS = re.compile(r"<[^<>]*>")
_SEPARATOR = re.compile(r"\s*(?:::|\\)\s*")
_WRAPPERS = frozenset(
    f"{word}_declarator"
    for word in ("array", "attributed", "function", "init", "parenthesized", "pointer", "pointer_type", "reference")
)
_CLASSES = frozenset(("class_specifier", "struct_specifier", "union_specifier"))
_CONST_QUALIFIERS = frozenset(("const", "constexpr", "constinit"))


def to_dotted(name: str) -> str:
    """A qualified name in dotted form: `a::Shop<T>::f` becomes `a.Shop.f`, `a\\Shop` becomes `a.Shop`."""
    if name.isidentifier():
        return name[:_MAX_NAME_LENGTH]
    name = " ".join(name[:_MAX_NAME_LENGTH].split())
    if "operator" not in name:
        while name != (name := _ARGUMENTS.sub("", name)):
            pass
    return _SEPARATOR.sub(".", name).strip(".\"'` ")


def field_reader(kind: str, field: str = "name") -> NameReader:
    """A reader for nodes with the name in a field; without the field they define nothing."""

    def read(node: "Node", data: bytes) -> Names:
        name = to_dotted(field_text(node, field, data))
        return ((kind, name),) if name else ()

    return read


def holder_reader(kind: str, holder: str) -> NameReader:
    """A reader for declarations of several names, each in a child of type `holder`."""

    def read(node: "Node", data: bytes) -> Names:
        holders = _find_holders(node, holder)
        found = (node_text(each.child_by_field_name("name") or named_child_at(each), data) for each in holders)
        fixed = "constant" if _is_constant(node, data) else kind
        return tuple((fixed, to_dotted(name).lstrip("$")) for name in found if name)

    return read


def _is_constant(node: "Node", data: bytes) -> bool:
    """`const` in C#, `static final` in Java."""
    words = {word for child in node.children if "modifier" in child.type for word in node_text(child, data).split()}
    return "const" in words or {"static", "final"} <= words


def _find_holders(node: "Node", holder: str) -> "Iterator[Node]":
    for child in node.named_children:
        if child.type == holder:
            yield child
        elif child.type == "variable_declaration":  # C# puts one more node between
            yield from _find_holders(child, holder)


def kind_by_case(name: str) -> str:
    """The kind of a variable in languages that mark constants by capitals."""
    return "constant" if name.isupper() else "variable"


def python_assignment(node: "Node", data: bytes) -> Names:
    """Names bound by a statement `a = …`, `a: T = …`, `a, b = …`."""
    assignment = child_at(node, 0)
    if assignment is None or assignment.type != "assignment":
        return ()
    left = assignment.child_by_field_name("left")
    targets = left.named_children if left and left.type == "pattern_list" else [left]
    return tuple(
        (kind_by_case(node_text(t, data)), node_text(t, data)) for t in targets if t and t.type == "identifier"
    )


def go_method(node: "Node", data: bytes) -> Names:
    """`func (s *Shop[T]) Total()` is `Shop.Total`."""
    receiver = re.sub(r"\[.*", "", field_text(node, "receiver", data).strip("() "), flags=re.DOTALL)
    owner = receiver.replace("*", " ").split()[-1:]
    return (("method", ".".join([*owner, field_text(node, "name", data)])),)


def go_type(node: "Node", data: bytes) -> Names:
    """A named struct, interface or other type."""
    behind = node.child_by_field_name("type")
    kind = {"struct_type": "struct", "interface_type": "interface"}.get(behind.type if behind else "", "type")
    return ((kind, field_text(node, "name", data)),)


def go_value_reader(kind: str) -> NameReader:
    """A reader for one `const` or `var` line."""
    return lambda node, data: tuple(
        (kind, node_text(name, data)) for name in node.children_by_field_name("name") if name.is_named
    )


def default_name_reader(kind: str) -> NameReader:
    """A reader for classes and functions that may lack a name, as in `export default class {}`."""
    return lambda node, data: ((kind, field_text(node, "name", data) or "default"),)


def script_variable(node: "Node", data: bytes) -> Names:
    """A JavaScript declarator or field: a function when its value is one."""
    found = node.child_by_field_name("name") or node.child_by_field_name("property")
    if found is None or found.type.endswith("_pattern"):
        return ()
    name = node_text(found, data)
    return ((script_kind(node.child_by_field_name("value"), kind_by_case(name)), name),)


def script_kind(value: "Node | None", other: str) -> str:
    """The kind of a name with this value, or `other`."""
    if value is None:
        return other
    if value.type in SCRIPT_FUNCTIONS:
        return "function"
    return "class" if value.type == "class" else other


def script_pair(node: "Node", data: bytes) -> Names:
    """A member of an object literal, if it is a function or class."""
    kind = script_kind(node.child_by_field_name("value"), "")
    return ((kind, field_text(node, "key", data).strip("\"'")),) if kind else ()


def script_assignment(node: "Node", data: bytes) -> Names:
    """`exports.f = function …`, `Shop.prototype.total = …`, `module.exports = {…}`; others define nothing."""
    assignment = named_child_at(node)
    if assignment is None or assignment.type != "assignment_expression":
        return ()
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    if left is None or left.type != "member_expression" or right is None:
        return ()
    name = node_text(left, data)
    kind = script_kind(right, "variable" if right.type == "object" and name.endswith("exports") else "")
    name = "".join(name.split()).removeprefix("module.").removeprefix("exports.")
    if ".prototype." in name and kind == "function":
        kind = "method"
    return ((kind, name.replace(".prototype.", ".")),) if kind else ()


def rust_impl(node: "Node", data: bytes) -> Names:
    """An `impl` block has the name of its type."""
    of = to_dotted(field_text(node, "type", data)).split()
    return tuple(("impl", name) for name in of[-1:])


def ruby_assignment(node: "Node", data: bytes) -> Names:
    """`NAME = …`: only constants are definitions."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type not in ("constant", "scope_resolution"):
        return ()
    made = field_text(right, "receiver", data) in ("Class", "Data", "Module", "Struct")
    return (("class" if made else "constant", to_dotted(node_text(left, data))),)


def shell_variable(node: "Node", data: bytes) -> Names:
    """The names in an assignment or in `declare`, `export`, `readonly`."""
    found = [node] if node.type == "variable_assignment" else node.named_children
    names = (field_text(each, "name", data) for each in found if each.type == "variable_assignment")
    return tuple((kind_by_case(name), name) for name in names)


def csharp_operator(node: "Node", data: bytes) -> Names:
    """`operator ==`, and `operator int` for a conversion."""
    sign = node.child_by_field_name("operator") or node.child_by_field_name("type")
    return (("method", "operator " + node_text(sign, data)),)


def csharp_destructor(node: "Node", data: bytes) -> Names:
    """`~Shop`, to distinguish it from the constructor."""
    return (("method", "~" + field_text(node, "name", data)),)


def csharp_indexer(_node: "Node", _data: bytes) -> Names:
    """`this[…]`."""
    return (("property", "this"),)


def c_function(node: "Node", data: bytes) -> Names:
    """The name of a function with a body; `Shop::total` outside its class is a method."""
    of, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    # The parser takes `class API Shop { … }` for a function that returns a class.
    if of is not None and declarator is not None and of.type in _CLASSES and declarator.type == "identifier":
        return (("class", field_text(node, "declarator", data)),)
    return tuple((kind, name) for kind, name in _declared_names(node, data) if kind in ("function", "method"))


def c_declaration(node: "Node", data: bytes) -> Names:
    """The functions and variables of a declaration; none if it defines a named type, which counts instead."""
    of = node.child_by_field_name("type")
    if of and of.child_by_field_name("body") and of.child_by_field_name("name"):
        return ()
    found = _declared_names(node, data)
    qualifiers = {node_text(child, data) for child in node.children if child.type == "type_qualifier"} if found else ()
    variable = "constant" if _CONST_QUALIFIERS.intersection(qualifiers) else "variable"
    return tuple((variable if kind == "variable" else kind, name) for kind, name in found)


def c_typedef(node: "Node", data: bytes) -> Names:
    """The names of a `typedef`, with the kind of the type that it defines, if any."""
    of = node.child_by_field_name("type")
    spelled = of is not None and of.child_by_field_name("body") is not None
    kind = ("enum" if of.type == "enum_specifier" else "struct") if of and spelled else "type"
    return tuple((kind, name) for _, name in _declared_names(node, data))


def c_macro(node: "Node", data: bytes) -> Names:
    """A macro with a value; one without is a switch or an include guard."""
    kind = "function" if node.type == "preproc_function_def" else "constant"
    return ((kind, field_text(node, "name", data)),) if node.child_by_field_name("value") else ()


def _declared_names(node: "Node", data: bytes) -> Names:
    found = (_declarator_name(each, data) for each in node.children_by_field_name("declarator"))
    return tuple(each for each in found if each[1])


def _declarator_name(node: "Node", data: bytes) -> KindAndName:
    inner, function = peel_declarator(node)
    name = _qualified_name(inner, data) if inner else ""
    if function is None and "operator " not in name:
        return kind_by_case(name.rpartition(".")[2]), name
    return "method" if "." in name else "function", name


def peel_declarator(node: "Node") -> "tuple[Node | None, Node | None]":
    """The name in a declarator, and the part with the parameters if it declares a function."""
    function: Node | None = None
    while (kind := node.type) in _WRAPPERS:
        if kind != "parenthesized_declarator":
            function = node if kind == "function_declarator" else None
        inner = node.child_by_field_name("declarator") or named_child_at(node)
        if inner is None:
            return None, None
        node = inner
    return node, function


def _qualified_name(node: "Node", data: bytes) -> str:
    parts: list[str] = []
    while node.type == "qualified_identifier":
        parts.append(to_dotted(field_text(node, "scope", data)))
        inner = node.child_by_field_name("name")
        if inner is None:
            break
        node = inner
    return ".".join(part for part in (*parts, _last_name(node, data)) if part)


def _last_name(node: "Node", data: bytes) -> str:
    if node.type == "operator_cast":
        return "operator " + " ".join(field_text(node, "type", data).split())
    if node.type in ("operator_name", "destructor_name"):
        return "".join(node_text(node, data).split())
    is_name = node.type.endswith(("identifier", "template_function", "primitive_type"))
    return to_dotted(node_text(node, data)) if is_name else ""


def c_type_reader(kind: str) -> NameReader:
    """A reader for classes, structs and enums; without members they define nothing."""
    read = field_reader(kind)
    return lambda node, data: read(node, data) if node.child_by_field_name("body") else ()
