"""Which node types define something, for each language. The walker never looks into a node type that is not listed."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from marid.syntax.treesitter import name_readers as read
from marid.syntax.treesitter.nodes import named_child_at

if TYPE_CHECKING:
    from tree_sitter import Node

NodeSelector: TypeAlias = "Callable[[Node], Node | None]"


def at_field(*path: str) -> NodeSelector:
    """Select the node at a path of fields."""

    def follow(node: "Node") -> "Node | None":
        found: Node | None = node
        for field in path:
            found = found.child_by_field_name(field) if found else None
        return found

    return follow


def first_of(*fields: str) -> NodeSelector:
    """Select the first of several fields that the node has."""
    return lambda node: next((found for field in fields if (found := node.child_by_field_name(field))), None)


BODY = at_field("body")
ITSELF = at_field()
NO_NODE = first_of()


class NodeRule(NamedTuple):
    """A node that defines names. Its signature ends before `body`, or after `last` if the node has that."""

    read: read.NameReader
    body: NodeSelector = BODY
    last: NodeSelector = NO_NODE
    # The body begins with a word that belongs to the signature: `struct {` in Go.
    keyword_in_body: bool = False
    # Ignored inside the bodies of functions.
    outside_functions: bool = False
    # If the node itself names nothing, it is the head of the definition inside it.
    head: bool = False


class Wrapper(NamedTuple):
    """A node to look through; a `head`, such as `export` or `template <…>`, belongs to the definition inside it."""

    inside: NodeSelector = ITSELF
    head: bool = False


Role: TypeAlias = NodeRule | Wrapper


class LanguageTable(NamedTuple):
    """The roles of a language's node types; `nested` if functions can contain definitions."""

    roles: Mapping[str, Role]
    decorator_types: frozenset[str]
    nested: bool = True
    comment: str = "//"
    docstrings: bool = False


_TRANSPARENT = Wrapper()
_HEAD = Wrapper(head=True)
_FIELD = NodeRule(read.field_reader("variable"), outside_functions=True)


def _table(
    node_types: Mapping[Role | str, str], decorators: str = "", base: Mapping[str, Role] = MappingProxyType({})
) -> LanguageTable:
    """The table of a language, from the node types of each role; a plain kind stands for nodes with a field `name`."""
    roles = {
        node_type: NodeRule(read.field_reader(role)) if isinstance(role, str) else role
        for role, words in node_types.items()
        for node_type in words.split()
    }
    return LanguageTable({**base, **roles}, frozenset(decorators.split()))


def _script_body(node: "Node") -> "Node | None":
    """Where members are: the body of the function or class that a name is bound to, or an object of functions."""
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None:
        return None
    if value.type == "object":
        return value if any(map(_holds_function, value.named_children)) else None
    has_body = value.type in read.SCRIPT_FUNCTIONS or value.type == "class"
    return value.child_by_field_name("body") if has_body else None


def _holds_function(member: "Node") -> bool:
    value = member.child_by_field_name("value") if member.type == "pair" else None
    return member.type == "method_definition" or (value is not None and value.type in read.SCRIPT_FUNCTIONS)


def _iife_body(node: "Node") -> "Node | None":
    """The body of `(function () { … })()`, which wraps old modules."""
    callee = node.child_by_field_name("function")
    inner = named_child_at(callee) if callee and callee.type == "parenthesized_expression" else None
    return inner.child_by_field_name("body") if inner and inner.type in read.SCRIPT_FUNCTIONS else None


def _script_statement(node: "Node") -> "Node | None":
    inner = named_child_at(node)
    return _script_body(inner) if inner and inner.type == "assignment_expression" else node


_SCRIPT_VARIABLE = NodeRule(read.script_variable, _script_body)
_SCRIPT = _table(
    {
        _TRANSPARENT: "statement_block if_statement else_clause try_statement catch_clause finally_clause "
        "for_statement for_in_statement while_statement do_statement switch_statement switch_body switch_case "
        "switch_default labeled_statement class_body class_static_block object ERROR",
        _HEAD: "export_statement lexical_declaration variable_declaration",
        NodeRule(read.script_assignment, _script_statement, outside_functions=True): "expression_statement",
        Wrapper(_iife_body): "call_expression",
        "class": "class_declaration",
        NodeRule(read.default_name_reader("class")): "class",
        "function": "function_declaration generator_function_declaration",
        NodeRule(read.default_name_reader("function")): "function_expression arrow_function",
        "method": "method_definition",
        _SCRIPT_VARIABLE: "variable_declarator",
        NodeRule(read.script_pair, _script_body): "pair",
    },
    "decorator",
)
_JAVASCRIPT = _table({_SCRIPT_VARIABLE: "field_definition"}, "decorator", _SCRIPT.roles)
_TYPESCRIPT = _table(
    {
        _HEAD: "ambient_declaration",
        "class": "abstract_class_declaration",
        "interface": "interface_declaration",
        "enum": "enum_declaration",
        "type": "type_alias_declaration",
        "namespace": "internal_module",
        "module": "module",
        "function": "function_signature",
        "method": "method_signature abstract_method_signature",
        _FIELD: "property_signature",
        _SCRIPT_VARIABLE: "public_field_definition",
    },
    "decorator",
    _SCRIPT.roles,
)


def _declaration_body(node: "Node") -> "Node | None":
    """A struct with a name is its own definition; one without belongs to the variable."""
    of = node.child_by_field_name("type")
    body = of.child_by_field_name("body") if of else None
    return node if of and body and of.child_by_field_name("name") else body


_C_DECLARATION = NodeRule(read.c_declaration, _declaration_body, outside_functions=True, head=True)
_C = _table(
    {
        _TRANSPARENT: "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef declaration_list "
        "field_declaration_list linkage_specification labeled_statement ERROR",
        NodeRule(read.c_function): "function_definition",
        NodeRule(read.c_type_reader("struct")): "struct_specifier union_specifier",
        NodeRule(read.c_type_reader("enum")): "enum_specifier",
        NodeRule(read.c_typedef, at_field("type", "body")): "type_definition",
        _C_DECLARATION: "declaration field_declaration",
        NodeRule(read.c_macro): "preproc_def",
        NodeRule(read.c_macro, at_field("value")): "preproc_function_def",
    },
    "attribute_declaration attribute_specifier",
)._replace(nested=False)
_CPP = _table(
    {
        _HEAD: "template_declaration",
        NodeRule(read.c_type_reader("class")): "class_specifier",
        "namespace": "namespace_definition",
        "type": "alias_declaration concept_definition",
    },
    " ".join(_C.decorator_types),
    _C.roles,
)._replace(nested=False)


def _go_body(node: "Node") -> "Node | None":
    of = node.child_by_field_name("type")
    return of if of and of.type in ("struct_type", "interface_type") else None


def _rust_fields(node: "Node") -> "Node | None":
    """The fields in braces; those of `struct Pair(A, B)` belong to the signature."""
    body = node.child_by_field_name("body")
    return body if body and body.type == "field_declaration_list" else None


_PYTHON = _table(
    {
        _TRANSPARENT: "if_statement else_clause elif_clause try_statement except_clause finally_clause with_statement "
        "for_statement while_statement match_statement case_clause block ERROR",
        _HEAD: "decorated_definition",
        "class": "class_definition",
        "function": "function_definition",
        NodeRule(read.field_reader("type", "left"), outside_functions=True): "type_alias_statement",
        NodeRule(read.python_assignment, outside_functions=True): "expression_statement",
    },
    "decorator",
)._replace(comment="#", docstrings=True)
_JAVA = _table(
    {
        _TRANSPARENT: "enum_body_declarations ERROR",
        "class": "class_declaration record_declaration",
        "interface": "interface_declaration annotation_type_declaration",
        "enum": "enum_declaration",
        "method": "method_declaration constructor_declaration compact_constructor_declaration "
        "annotation_type_element_declaration",
        NodeRule(read.holder_reader("variable", "variable_declarator")): "field_declaration",
        NodeRule(read.holder_reader("constant", "variable_declarator")): "constant_declaration",
    },
    "annotation marker_annotation",
)._replace(nested=False)
_GO = _table(
    {
        _TRANSPARENT: "var_spec_list field_declaration_list ERROR",
        _HEAD: "type_declaration const_declaration var_declaration",
        NodeRule(read.go_type, _go_body, keyword_in_body=True): "type_spec",
        "type": "type_alias",
        "function": "function_declaration",
        NodeRule(read.go_method): "method_declaration",
        "method": "method_elem",
        NodeRule(read.go_value_reader("variable")): "field_declaration var_spec",
        NodeRule(read.go_value_reader("constant")): "const_spec",
    }
)._replace(nested=False)
_RUST = _table(
    {
        _TRANSPARENT: "declaration_list ERROR",
        NodeRule(read.field_reader("struct"), _rust_fields): "struct_item",
        "struct": "union_item",
        "enum": "enum_item",
        "trait": "trait_item",
        NodeRule(read.rust_impl): "impl_item",
        "module": "mod_item",
        "function": "function_item function_signature_item",
        NodeRule(read.field_reader("function"), last=at_field("name")): "macro_definition",
        NodeRule(read.field_reader("constant"), outside_functions=True): "const_item",
        _FIELD: "static_item field_declaration",
        "type": "type_item associated_type",
        Wrapper(BODY): "foreign_mod_item",
    },
    "attribute_item",
)
_CSHARP_FIELD = NodeRule(read.holder_reader("variable", "variable_declarator"), outside_functions=True)
_CSHARP_ACCESSORS = first_of("accessors", "value")
_CSHARP = _table(
    {
        _TRANSPARENT: "declaration_list block global_statement if_statement preproc_if preproc_else preproc_elif ERROR",
        "namespace": "namespace_declaration file_scoped_namespace_declaration",
        "class": "class_declaration record_declaration",
        "struct": "struct_declaration",
        "interface": "interface_declaration",
        "enum": "enum_declaration",
        "type": "delegate_declaration",
        "method": "method_declaration constructor_declaration",
        NodeRule(read.csharp_destructor): "destructor_declaration",
        NodeRule(read.csharp_operator): "operator_declaration conversion_operator_declaration",
        "function": "local_function_statement",
        NodeRule(read.field_reader("property"), _CSHARP_ACCESSORS): "property_declaration event_declaration",
        NodeRule(read.csharp_indexer, _CSHARP_ACCESSORS): "indexer_declaration",
        _CSHARP_FIELD: "event_field_declaration field_declaration",
    },
    "attribute_list",
)
_RUBY = _table(
    {
        _TRANSPARENT: "body_statement call argument_list do_block block begin if unless if_modifier unless_modifier "
        "then else elsif singleton_class ERROR",
        NodeRule(read.field_reader("module"), last=at_field("name")): "module",
        NodeRule(read.field_reader("class"), last=first_of("superclass", "name")): "class",
        NodeRule(read.field_reader("method"), last=first_of("parameters", "name")): "method singleton_method",
        NodeRule(read.ruby_assignment, at_field("right", "block"), outside_functions=True): "assignment",
    }
)._replace(comment="#")
_PHP = _table(
    {
        _TRANSPARENT: "compound_statement declaration_list enum_declaration_list if_statement else_clause "
        "else_if_clause colon_block try_statement ERROR",
        "namespace": "namespace_definition",
        "class": "class_declaration",
        "interface": "interface_declaration",
        "trait": "trait_declaration",
        "enum": "enum_declaration",
        "function": "function_definition",
        "method": "method_declaration",
        NodeRule(read.holder_reader("constant", "const_element"), outside_functions=True): "const_declaration",
        NodeRule(read.holder_reader("variable", "property_element"), outside_functions=True): "property_declaration",
    },
    "attribute_list",
)
_BASH = _table(
    {
        _TRANSPARENT: "compound_statement subshell if_statement elif_clause else_clause for_statement while_statement "
        "do_group case_statement case_item list ERROR",
        "function": "function_definition",
        NodeRule(read.shell_variable, outside_functions=True): "variable_assignment declaration_command",
    }
)._replace(comment="#")

LANGUAGE_TABLES: Mapping[str, LanguageTable] = MappingProxyType(
    {
        "bash": _BASH,
        "c": _C,
        "cpp": _CPP,
        "csharp": _CSHARP,
        "go": _GO,
        "java": _JAVA,
        "javascript": _JAVASCRIPT,
        "php": _PHP,
        "python": _PYTHON,
        "ruby": _RUBY,
        "rust": _RUST,
        "tsx": _TYPESCRIPT,
        "typescript": _TYPESCRIPT,
    }
)
