"""Which node types define something, for each language. The walker never looks into a node type that is not listed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from marid.syntax.treesitter import declarators, name_readers
from marid.syntax.treesitter.name_readers import default_name_reader, field_reader, go_value_reader, holder_reader
from marid.syntax.treesitter.nodes import named_child_at
from marid.syntax.treesitter.roles import LanguageTable, NodeRule, Role, Wrapper, at_field, first_of

if TYPE_CHECKING:
    from tree_sitter import Node

_TRANSPARENT = Wrapper()
_HEAD = Wrapper(head=True)
_METHOD = NodeRule(read=field_reader("method"))
_FUNCTION = NodeRule(read=field_reader("function"))
_CLASS = NodeRule(read=field_reader("class"))
_STRUCT = NodeRule(read=field_reader("struct"))
_ENUM = NodeRule(read=field_reader("enum"))
_INTERFACE = NodeRule(read=field_reader("interface"))
_TRAIT = NodeRule(read=field_reader("trait"))
_NAMESPACE = NodeRule(read=field_reader("namespace"))
_MODULE = NodeRule(read=field_reader("module"))
_TYPE = NodeRule(read=field_reader("type"))
_FIELD = NodeRule(read=field_reader("variable"), outside_functions=True)


def _by_node_type(node_types: Mapping[Role, str]) -> dict[str, Role]:
    return {node_type: role for role, words in node_types.items() for node_type in words.split()}


def _table(
    node_types: Mapping[Role, str],
    decorators: str = "",
    *,
    nested: bool = True,
    comment: str = "//",
    docstrings: bool = False,
) -> LanguageTable:
    return LanguageTable(_by_node_type(node_types), frozenset(decorators.split()), nested, comment, docstrings)


_PYTHON = _table(
    {
        _TRANSPARENT: "if_statement else_clause elif_clause try_statement except_clause finally_clause with_statement "
        "for_statement while_statement match_statement case_clause block ERROR",
        _HEAD: "decorated_definition",
        _CLASS: "class_definition",
        _FUNCTION: "function_definition",
        NodeRule(read=field_reader("type", "left"), outside_functions=True): "type_alias_statement",
        NodeRule(read=name_readers.python_assignment, outside_functions=True): "expression_statement",
    },
    "decorator",
    comment="#",
    docstrings=True,
)


def _script_body(node: "Node") -> "Node | None":
    """Where members are: the body of the function or class that a name is bound to, or an object of functions."""
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None:
        return None
    if value.type == "object":
        return value if any(map(_holds_function, value.named_children)) else None
    has_body = value.type in name_readers.SCRIPT_FUNCTIONS or value.type == "class"
    return value.child_by_field_name("body") if has_body else None


def _holds_function(member: "Node") -> bool:
    value = member.child_by_field_name("value") if member.type == "pair" else None
    return member.type == "method_definition" or (value is not None and value.type in name_readers.SCRIPT_FUNCTIONS)


def _iife_body(node: "Node") -> "Node | None":
    """The body of `(function () { … })()`, which wraps old modules."""
    callee = node.child_by_field_name("function")
    inner = named_child_at(callee) if callee and callee.type == "parenthesized_expression" else None
    return inner.child_by_field_name("body") if inner and inner.type in name_readers.SCRIPT_FUNCTIONS else None


def _script_statement(node: "Node") -> "Node | None":
    inner = named_child_at(node)
    return _script_body(inner) if inner and inner.type == "assignment_expression" else node


_SCRIPT_VARIABLE = NodeRule(read=name_readers.script_variable, body=_script_body)
_SCRIPT_ROLES = _by_node_type(
    {
        _TRANSPARENT: "statement_block if_statement else_clause try_statement catch_clause finally_clause "
        "for_statement for_in_statement while_statement do_statement switch_statement switch_body switch_case "
        "switch_default labeled_statement class_body class_static_block object ERROR",
        _HEAD: "export_statement lexical_declaration variable_declaration",
        NodeRule(
            read=name_readers.script_assignment, body=_script_statement, outside_functions=True
        ): "expression_statement",
        Wrapper(inside=_iife_body): "call_expression",
        _CLASS: "class_declaration",
        NodeRule(read=default_name_reader("class")): "class",
        _FUNCTION: "function_declaration generator_function_declaration",
        NodeRule(read=default_name_reader("function")): "function_expression arrow_function",
        _METHOD: "method_definition",
        _SCRIPT_VARIABLE: "variable_declarator",
        NodeRule(read=name_readers.script_pair, body=_script_body): "pair",
    }
)
_JAVASCRIPT = LanguageTable(_SCRIPT_ROLES | {"field_definition": _SCRIPT_VARIABLE}, frozenset(("decorator",)))
_TYPESCRIPT = LanguageTable(
    _SCRIPT_ROLES
    | _by_node_type(
        {
            _HEAD: "ambient_declaration",
            _CLASS: "abstract_class_declaration",
            _INTERFACE: "interface_declaration",
            _ENUM: "enum_declaration",
            _TYPE: "type_alias_declaration",
            _NAMESPACE: "internal_module",
            _MODULE: "module",
            _FUNCTION: "function_signature",
            _METHOD: "method_signature abstract_method_signature",
            _FIELD: "property_signature",
            _SCRIPT_VARIABLE: "public_field_definition",
        }
    ),
    frozenset(("decorator",)),
)


def _declaration_body(node: "Node") -> "Node | None":
    """A struct with a name is its own definition; one without belongs to the variable."""
    of = node.child_by_field_name("type")
    body = of.child_by_field_name("body") if of else None
    return node if of and body and of.child_by_field_name("name") else body


_C_ROLES = _by_node_type(
    {
        _TRANSPARENT: "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef declaration_list "
        "field_declaration_list linkage_specification labeled_statement ERROR",
        NodeRule(read=declarators.read_function): "function_definition",
        NodeRule(read=declarators.type_reader("struct")): "struct_specifier union_specifier",
        NodeRule(read=declarators.type_reader("enum")): "enum_specifier",
        NodeRule(read=declarators.read_typedef, body=at_field("type", "body")): "type_definition",
        NodeRule(
            read=declarators.read_declaration, body=_declaration_body, outside_functions=True, head=True
        ): "declaration field_declaration",
        NodeRule(read=declarators.read_macro): "preproc_def",
        NodeRule(read=declarators.read_macro, body=at_field("value")): "preproc_function_def",
    }
)
_CPP_ROLES = _C_ROLES | _by_node_type(
    {
        _HEAD: "template_declaration",
        NodeRule(read=declarators.type_reader("class")): "class_specifier",
        _NAMESPACE: "namespace_definition",
        _TYPE: "alias_declaration concept_definition",
    }
)
_C_ATTRIBUTES = frozenset(("attribute_declaration", "attribute_specifier"))

_JAVA = _table(
    {
        _TRANSPARENT: "enum_body_declarations ERROR",
        _CLASS: "class_declaration record_declaration",
        _INTERFACE: "interface_declaration annotation_type_declaration",
        _ENUM: "enum_declaration",
        _METHOD: "method_declaration constructor_declaration compact_constructor_declaration "
        "annotation_type_element_declaration",
        NodeRule(read=holder_reader("variable", "variable_declarator")): "field_declaration",
        NodeRule(read=holder_reader("constant", "variable_declarator")): "constant_declaration",
    },
    "annotation marker_annotation",
    nested=False,
)


def _go_body(node: "Node") -> "Node | None":
    of = node.child_by_field_name("type")
    return of if of and of.type in ("struct_type", "interface_type") else None


_GO = _table(
    {
        _TRANSPARENT: "var_spec_list field_declaration_list ERROR",
        _HEAD: "type_declaration const_declaration var_declaration",
        NodeRule(read=name_readers.go_type, body=_go_body, keyword_in_body=True): "type_spec",
        _TYPE: "type_alias",
        _FUNCTION: "function_declaration",
        NodeRule(read=name_readers.go_method): "method_declaration",
        _METHOD: "method_elem",
        NodeRule(read=go_value_reader("variable")): "field_declaration var_spec",
        NodeRule(read=go_value_reader("constant")): "const_spec",
    },
    nested=False,
)


def _rust_fields(node: "Node") -> "Node | None":
    """The fields in braces; those of `struct Pair(A, B)` belong to the signature."""
    body = node.child_by_field_name("body")
    return body if body and body.type == "field_declaration_list" else None


_RUST = _table(
    {
        _TRANSPARENT: "declaration_list ERROR",
        NodeRule(read=field_reader("struct"), body=_rust_fields): "struct_item",
        _STRUCT: "union_item",
        _ENUM: "enum_item",
        _TRAIT: "trait_item",
        NodeRule(read=name_readers.rust_impl): "impl_item",
        _MODULE: "mod_item",
        _FUNCTION: "function_item function_signature_item",
        NodeRule(read=field_reader("function"), last=at_field("name")): "macro_definition",
        NodeRule(read=field_reader("constant"), outside_functions=True): "const_item",
        _FIELD: "static_item field_declaration",
        _TYPE: "type_item associated_type",
        Wrapper(inside=at_field("body")): "foreign_mod_item",
    },
    "attribute_item",
)

_CSHARP_ACCESSORS = first_of(at_field("accessors"), at_field("value"))
_CSHARP = _table(
    {
        _TRANSPARENT: "declaration_list block global_statement if_statement preproc_if preproc_else preproc_elif ERROR",
        _NAMESPACE: "namespace_declaration file_scoped_namespace_declaration",
        _CLASS: "class_declaration record_declaration",
        _STRUCT: "struct_declaration",
        _INTERFACE: "interface_declaration",
        _ENUM: "enum_declaration",
        _TYPE: "delegate_declaration",
        _METHOD: "method_declaration constructor_declaration",
        NodeRule(read=name_readers.csharp_destructor): "destructor_declaration",
        NodeRule(read=name_readers.csharp_operator): "operator_declaration conversion_operator_declaration",
        _FUNCTION: "local_function_statement",
        NodeRule(read=field_reader("property"), body=_CSHARP_ACCESSORS): "property_declaration event_declaration",
        NodeRule(read=name_readers.csharp_indexer, body=_CSHARP_ACCESSORS): "indexer_declaration",
        NodeRule(
            read=holder_reader("variable", "variable_declarator"), outside_functions=True
        ): "event_field_declaration field_declaration",
    },
    "attribute_list",
)

_RUBY = _table(
    {
        _TRANSPARENT: "body_statement call argument_list do_block block begin if unless if_modifier unless_modifier "
        "then else elsif singleton_class ERROR",
        NodeRule(read=field_reader("module"), last=at_field("name")): "module",
        NodeRule(read=field_reader("class"), last=first_of(at_field("superclass"), at_field("name"))): "class",
        NodeRule(
            read=field_reader("method"), last=first_of(at_field("parameters"), at_field("name"))
        ): "method singleton_method",
        NodeRule(
            read=name_readers.ruby_assignment, body=at_field("right", "block"), outside_functions=True
        ): "assignment",
    },
    comment="#",
)

_PHP = _table(
    {
        _TRANSPARENT: "compound_statement declaration_list enum_declaration_list if_statement else_clause "
        "else_if_clause colon_block try_statement ERROR",
        _NAMESPACE: "namespace_definition",
        _CLASS: "class_declaration",
        _INTERFACE: "interface_declaration",
        _TRAIT: "trait_declaration",
        _ENUM: "enum_declaration",
        _FUNCTION: "function_definition",
        _METHOD: "method_declaration",
        NodeRule(read=holder_reader("constant", "const_element"), outside_functions=True): "const_declaration",
        NodeRule(read=holder_reader("variable", "property_element"), outside_functions=True): "property_declaration",
    },
    "attribute_list",
)

_BASH = _table(
    {
        _TRANSPARENT: "compound_statement subshell if_statement elif_clause else_clause for_statement while_statement "
        "do_group case_statement case_item list ERROR",
        _FUNCTION: "function_definition",
        NodeRule(read=name_readers.shell_variable, outside_functions=True): "variable_assignment declaration_command",
    },
    comment="#",
)

LANGUAGE_TABLES: Mapping[str, LanguageTable] = MappingProxyType(
    {
        "bash": _BASH,
        "c": LanguageTable(_C_ROLES, _C_ATTRIBUTES, nested=False),
        "cpp": LanguageTable(_CPP_ROLES, _C_ATTRIBUTES, nested=False),
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
