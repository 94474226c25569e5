"""Which node types define something, for each language. A node type that is not named here is never looked into."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from marid.syntax.treesitter import declarators, name_readers
from marid.syntax.treesitter.name_readers import default_name_reader, field_reader, holder_reader
from marid.syntax.treesitter.nodes import named_child_at
from marid.syntax.treesitter.roles import LanguageTable, NodeRule, NodeSelector, Role, Wrapper, at_field, first_of

if TYPE_CHECKING:
    from tree_sitter import Node


def _assign_role(words: str, role: Role) -> dict[str, Role]:
    return dict.fromkeys(words.split(), role)


_TRANSPARENT = Wrapper()
_HEAD = Wrapper(head=True)
_METHOD = NodeRule(read=field_reader("method"))
_FUNCTION = NodeRule(read=field_reader("function"))
_CLASS = NodeRule(read=field_reader("class"))
_ENUM = NodeRule(read=field_reader("enum"))
_INTERFACE = NodeRule(read=field_reader("interface"))
_NAMESPACE = NodeRule(read=field_reader("namespace"))
_TYPE = NodeRule(read=field_reader("type"))


def _python() -> LanguageTable:
    statements = (
        "if_statement else_clause elif_clause try_statement except_clause finally_clause "
        "with_statement for_statement while_statement match_statement case_clause block ERROR"
    )
    roles = {
        "decorated_definition": _HEAD,
        "class_definition": _CLASS,
        "function_definition": _FUNCTION,
        "type_alias_statement": NodeRule(read=field_reader("type", "left"), outside_functions=True),
        "expression_statement": NodeRule(read=name_readers.python_assignment, outside_functions=True),
    }
    return LanguageTable(
        roles=_assign_role(statements, _TRANSPARENT) | roles,
        decorator_types=frozenset(("decorator",)),
        comment="#",
        docstrings=True,
    )


_VALUE: NodeSelector = at_field("value")


def _script_body(node: "Node") -> "Node | None":
    """Where members are: the body of the function or class that a name is given, or an object that holds functions."""
    value = first_of(_VALUE, at_field("right"))(node)
    if value is None:
        return None
    if value.type == "object":
        return value if any(map(_holds_function, value.named_children)) else None
    return (
        value.child_by_field_name("body")
        if value.type in name_readers.SCRIPT_FUNCTIONS or value.type == "class"
        else None
    )


def _holds_function(member: "Node") -> bool:
    value = member.child_by_field_name("value") if member.type == "pair" else None
    return member.type == "method_definition" or (value is not None and value.type in name_readers.SCRIPT_FUNCTIONS)


def _iife_body(node: "Node") -> "Node | None":
    """The body of `(function () { … })()`, which old modules are wrapped in."""
    held = at_field("function")(node)
    held = named_child_at(held) if held and held.type == "parenthesized_expression" else None
    return held.child_by_field_name("body") if held and held.type in name_readers.SCRIPT_FUNCTIONS else None


def _script_statement(node: "Node") -> "Node | None":
    held = named_child_at(node)
    return _script_body(held) if held and held.type == "assignment_expression" else node


def _script() -> LanguageTable:
    statements = (
        "statement_block if_statement else_clause try_statement catch_clause finally_clause for_statement "
        "for_in_statement while_statement do_statement switch_statement switch_body switch_case switch_default "
        "labeled_statement class_body class_static_block object ERROR"
    )
    value = NodeRule(read=name_readers.script_variable, body=_script_body)
    roles = {
        "export_statement": _HEAD,
        "lexical_declaration": _HEAD,
        "variable_declaration": _HEAD,
        "expression_statement": NodeRule(
            read=name_readers.script_assignment, body=_script_statement, outside_functions=True
        ),
        "call_expression": Wrapper(inside=_iife_body),
        "class_declaration": _CLASS,
        "class": NodeRule(read=default_name_reader("class")),
        "function_declaration": _FUNCTION,
        "generator_function_declaration": _FUNCTION,
        "function_expression": NodeRule(read=default_name_reader("function")),
        "arrow_function": NodeRule(read=default_name_reader("function")),
        "method_definition": _METHOD,
        "variable_declarator": value,
        "pair": NodeRule(read=name_readers.script_pair, body=_script_body),
    }
    return LanguageTable(
        roles=_assign_role(statements, _TRANSPARENT) | roles, decorator_types=frozenset(("decorator",))
    )


def _javascript() -> LanguageTable:
    script = _script()
    return LanguageTable(
        roles={**script.roles, "field_definition": script.roles["variable_declarator"]},
        decorator_types=script.decorator_types,
    )


def _typescript() -> LanguageTable:
    script = _script()
    roles = {
        "ambient_declaration": _HEAD,
        "abstract_class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "type_alias_declaration": _TYPE,
        "internal_module": _NAMESPACE,
        "module": NodeRule(read=field_reader("module")),
        "function_signature": _FUNCTION,
        "method_signature": _METHOD,
        "abstract_method_signature": _METHOD,
        "property_signature": NodeRule(read=field_reader("variable"), outside_functions=True),
        "public_field_definition": script.roles["variable_declarator"],
    }
    return LanguageTable(roles={**script.roles, **roles}, decorator_types=script.decorator_types)


def _declaration_body(node: "Node") -> "Node | None":
    """A struct with a name is a definition of its own; one without belongs to the variable."""
    of = node.child_by_field_name("type")
    body = of.child_by_field_name("body") if of else None
    return node if of and body and of.child_by_field_name("name") else body


def _c() -> LanguageTable:
    blocks = (
        "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef declaration_list field_declaration_list "
        "linkage_specification labeled_statement ERROR"
    )
    struct = NodeRule(read=declarators.type_reader("struct"))
    declared = NodeRule(read=declarators.read_declaration, body=_declaration_body, outside_functions=True, head=True)
    roles = {
        "function_definition": NodeRule(read=declarators.read_function),
        "struct_specifier": struct,
        "union_specifier": struct,
        "enum_specifier": NodeRule(read=declarators.type_reader("enum")),
        "type_definition": NodeRule(read=declarators.read_typedef, body=at_field("type", "body")),
        "declaration": declared,
        "field_declaration": declared,
        "preproc_def": NodeRule(read=declarators.read_macro),
        "preproc_function_def": NodeRule(read=declarators.read_macro, body=_VALUE),
    }
    marks = frozenset(("attribute_declaration", "attribute_specifier"))
    return LanguageTable(roles=_assign_role(blocks, _TRANSPARENT) | roles, decorator_types=marks, nested=False)


def _cpp() -> LanguageTable:
    base = _c()
    roles = {
        "template_declaration": _HEAD,
        "class_specifier": NodeRule(read=declarators.type_reader("class")),
        "namespace_definition": _NAMESPACE,
        "alias_declaration": _TYPE,
        "concept_definition": _TYPE,
    }
    return LanguageTable(roles={**base.roles, **roles}, decorator_types=base.decorator_types, nested=False)


def _java() -> LanguageTable:
    roles = {
        "class_declaration": _CLASS,
        "record_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "annotation_type_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "enum_body_declarations": _TRANSPARENT,
        "method_declaration": _METHOD,
        "constructor_declaration": _METHOD,
        "compact_constructor_declaration": _METHOD,
        "annotation_type_element_declaration": _METHOD,
        "field_declaration": NodeRule(read=holder_reader("variable", "variable_declarator")),
        "constant_declaration": NodeRule(read=holder_reader("constant", "variable_declarator")),
        "ERROR": _TRANSPARENT,
    }
    return LanguageTable(roles=roles, decorator_types=frozenset(("annotation", "marker_annotation")), nested=False)


def _go_body(node: "Node") -> "Node | None":
    behind = node.child_by_field_name("type")
    return behind if behind and behind.type in ("struct_type", "interface_type") else None


def _go() -> LanguageTable:
    roles = {
        "type_declaration": _HEAD,
        "const_declaration": _HEAD,
        "var_declaration": _HEAD,
        "var_spec_list": _TRANSPARENT,
        "type_spec": NodeRule(read=name_readers.go_type, body=_go_body, keyword_in_body=True),
        "type_alias": NodeRule(read=field_reader("type")),
        "function_declaration": _FUNCTION,
        "method_declaration": NodeRule(read=name_readers.go_method),
        "method_elem": _METHOD,
        "field_declaration_list": _TRANSPARENT,
        "field_declaration": NodeRule(read=name_readers.go_value_reader("variable")),
        "const_spec": NodeRule(read=name_readers.go_value_reader("constant")),
        "var_spec": NodeRule(read=name_readers.go_value_reader("variable")),
        "ERROR": _TRANSPARENT,
    }
    return LanguageTable(roles=roles, nested=False)


def _rust_fields(node: "Node") -> "Node | None":
    """The fields in braces; those of `struct Pair(A, B)` belong to the signature."""
    body = node.child_by_field_name("body")
    return body if body and body.type == "field_declaration_list" else None


def _rust() -> LanguageTable:
    roles = {
        "struct_item": NodeRule(read=field_reader("struct"), body=_rust_fields),
        "union_item": NodeRule(read=field_reader("struct")),
        "enum_item": _ENUM,
        "trait_item": NodeRule(read=field_reader("trait")),
        "impl_item": NodeRule(read=name_readers.rust_impl),
        "mod_item": NodeRule(read=field_reader("module")),
        "function_item": _FUNCTION,
        "function_signature_item": _FUNCTION,
        "macro_definition": NodeRule(read=field_reader("function"), last=at_field("name")),
        "const_item": NodeRule(read=field_reader("constant"), outside_functions=True),
        "static_item": NodeRule(read=field_reader("variable"), outside_functions=True),
        "field_declaration": NodeRule(read=field_reader("variable"), outside_functions=True),
        "type_item": _TYPE,
        "associated_type": _TYPE,
        "foreign_mod_item": Wrapper(inside=at_field("body")),
    }
    return LanguageTable(
        roles=_assign_role("declaration_list ERROR", _TRANSPARENT) | roles,
        decorator_types=frozenset(("attribute_item",)),
    )


def _csharp() -> LanguageTable:
    through = "declaration_list block global_statement if_statement preproc_if preproc_else preproc_elif ERROR"
    field = NodeRule(read=holder_reader("variable", "variable_declarator"), outside_functions=True)
    accessed = first_of(at_field("accessors"), _VALUE)
    roles = {
        "namespace_declaration": _NAMESPACE,
        "file_scoped_namespace_declaration": _NAMESPACE,
        "class_declaration": _CLASS,
        "record_declaration": _CLASS,
        "struct_declaration": NodeRule(read=field_reader("struct")),
        "interface_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "delegate_declaration": _TYPE,
        "method_declaration": _METHOD,
        "constructor_declaration": _METHOD,
        "destructor_declaration": NodeRule(read=name_readers.csharp_destructor),
        "operator_declaration": NodeRule(read=name_readers.csharp_operator),
        "conversion_operator_declaration": NodeRule(read=name_readers.csharp_operator),
        "local_function_statement": _FUNCTION,
        "property_declaration": NodeRule(read=field_reader("property"), body=accessed),
        "indexer_declaration": NodeRule(read=name_readers.csharp_indexer, body=accessed),
        "event_declaration": NodeRule(read=field_reader("property"), body=accessed),
        "event_field_declaration": field,
        "field_declaration": field,
    }
    return LanguageTable(
        roles=_assign_role(through, _TRANSPARENT) | roles, decorator_types=frozenset(("attribute_list",))
    )


def _ruby() -> LanguageTable:
    through = (
        "body_statement call argument_list do_block block begin if unless if_modifier unless_modifier then else elsif "
        "singleton_class ERROR"
    )
    method = NodeRule(read=field_reader("method"), last=first_of(at_field("parameters"), at_field("name")))
    roles = {
        "module": NodeRule(read=field_reader("module"), last=at_field("name")),
        "class": NodeRule(read=field_reader("class"), last=first_of(at_field("superclass"), at_field("name"))),
        "method": method,
        "singleton_method": method,
        "assignment": NodeRule(
            read=name_readers.ruby_assignment, body=at_field("right", "block"), outside_functions=True
        ),
    }
    return LanguageTable(roles=_assign_role(through, _TRANSPARENT) | roles, comment="#")


def _php() -> LanguageTable:
    through = (
        "compound_statement declaration_list enum_declaration_list if_statement else_clause else_if_clause "
        "colon_block try_statement ERROR"
    )
    roles = {
        "namespace_definition": _NAMESPACE,
        "class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "trait_declaration": NodeRule(read=field_reader("trait")),
        "enum_declaration": _ENUM,
        "function_definition": _FUNCTION,
        "method_declaration": _METHOD,
        "const_declaration": NodeRule(read=holder_reader("constant", "const_element"), outside_functions=True),
        "property_declaration": NodeRule(read=holder_reader("variable", "property_element"), outside_functions=True),
    }
    return LanguageTable(
        roles=_assign_role(through, _TRANSPARENT) | roles, decorator_types=frozenset(("attribute_list",))
    )


def _bash() -> LanguageTable:
    through = (
        "compound_statement subshell if_statement elif_clause else_clause for_statement while_statement do_group "
        "case_statement case_item list ERROR"
    )
    variable = NodeRule(read=name_readers.shell_variable, outside_functions=True)
    roles = {
        "function_definition": _FUNCTION,
        "variable_assignment": variable,
        "declaration_command": variable,
    }
    return LanguageTable(roles=_assign_role(through, _TRANSPARENT) | roles, comment="#")


_BUILDERS: Mapping[str, Callable[[], LanguageTable]] = {
    "bash": _bash,
    "c": _c,
    "cpp": _cpp,
    "csharp": _csharp,
    "go": _go,
    "java": _java,
    "javascript": _javascript,
    "php": _php,
    "python": _python,
    "ruby": _ruby,
    "rust": _rust,
    "tsx": _typescript,
    "typescript": _typescript,
}


@cache
def language_table(language: str) -> LanguageTable:
    """The table of a language that has a grammar."""
    return _BUILDERS[language]()
