"""Names in C and C++ declarators, where a type surrounds its name."""

from typing import TYPE_CHECKING

from marid.syntax.treesitter.name_readers import KindAndName, NameReader, field_reader, kind_by_case, to_dotted
from marid.syntax.treesitter.nodes import field_text, named_child_at, node_text

if TYPE_CHECKING:
    from tree_sitter import Node

_WRAPPERS = frozenset(
    f"{word}_declarator"
    for word in ("array", "attributed", "function", "init", "parenthesized", "pointer", "pointer_type", "reference")
)
_CLASSES = frozenset(("class_specifier", "struct_specifier", "union_specifier"))
_CONST_QUALIFIERS = frozenset(("const", "constexpr", "constinit"))


def read_function(node: "Node", data: bytes) -> tuple[KindAndName, ...]:
    """The name of a function with a body; `Shop::total` outside its class is a method."""
    if _is_exported_class(node):
        return (("class", field_text(node, "declarator", data)),)
    return tuple((kind, name) for kind, name in _declared_names(node, data) if kind in ("function", "method"))


def _is_exported_class(node: "Node") -> bool:
    """Whether it is `class API Shop { … }`, which the parser takes for a function that returns a class."""
    of, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    return of is not None and declarator is not None and of.type in _CLASSES and declarator.type == "identifier"


def read_declaration(node: "Node", data: bytes) -> tuple[KindAndName, ...]:
    """The functions and variables of a declaration; none if it defines a named type, which counts instead."""
    of = node.child_by_field_name("type")
    if of and of.child_by_field_name("body") and of.child_by_field_name("name"):
        return ()
    found = _declared_names(node, data)
    if found and any(
        node_text(child, data) in _CONST_QUALIFIERS for child in node.children if child.type == "type_qualifier"
    ):
        return tuple(("constant" if kind == "variable" else kind, name) for kind, name in found)
    return found


def read_typedef(node: "Node", data: bytes) -> tuple[KindAndName, ...]:
    """The names of a `typedef`, with the kind of the type that it defines, if any."""
    of = node.child_by_field_name("type")
    spelled = of is not None and of.child_by_field_name("body") is not None
    kind = ("enum" if of.type == "enum_specifier" else "struct") if of and spelled else "type"
    return tuple((kind, name) for _, name in _declared_names(node, data))


def read_macro(node: "Node", data: bytes) -> tuple[KindAndName, ...]:
    """A macro with a value; one without is a switch or an include guard."""
    kind = "function" if node.type == "preproc_function_def" else "constant"
    return ((kind, field_text(node, "name", data)),) if node.child_by_field_name("value") else ()


def _declared_names(node: "Node", data: bytes) -> tuple[KindAndName, ...]:
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


def type_reader(kind: str) -> NameReader:
    """A reader for classes, structs and enums; without members they define nothing."""
    read = field_reader(kind)
    return lambda node, data: read(node, data) if node.child_by_field_name("body") else ()
