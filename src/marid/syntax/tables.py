"""Which node types define something, for each language. A node type that is not named here is never looked into."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from marid.syntax import declarators, names
from marid.syntax.names import default_or, each, named
from marid.syntax.nodes import nth_named
from marid.syntax.roles import Part, Role, Rule, Table, Wrapper, at, first

if TYPE_CHECKING:
    from tree_sitter import Node


def _words(words: str, role: Role) -> dict[str, Role]:
    return dict.fromkeys(words.split(), role)


_THROUGH = Wrapper()
_HEAD = Wrapper(head=True)
_METHOD = Rule(read=named("method"))
_FUNCTION = Rule(read=named("function"))
_CLASS = Rule(read=named("class"))
_ENUM = Rule(read=named("enum"))
_INTERFACE = Rule(read=named("interface"))
_NAMESPACE = Rule(read=named("namespace"))
_TYPE = Rule(read=named("type"))


def _python() -> Table:
    statements = (
        "if_statement else_clause elif_clause try_statement except_clause finally_clause "
        "with_statement for_statement while_statement match_statement case_clause block ERROR"
    )
    roles = {
        "decorated_definition": _HEAD,
        "class_definition": _CLASS,
        "function_definition": _FUNCTION,
        "type_alias_statement": Rule(read=named("type", "left"), outer=True),
        "expression_statement": Rule(read=names.python_assignment, outer=True),
    }
    return Table(
        roles=_words(statements, _THROUGH) | roles, marks=frozenset(("decorator",)), comment="#", docstrings=True
    )


_VALUE: Part = at("value")


def _script_body(node: "Node") -> "Node | None":
    """Where members are: the body of the function or class that a name is given, or an object that holds functions."""
    value = first(_VALUE, at("right"))(node)
    if value is None:
        return None
    if value.type == "object":
        return value if any(map(_holds_function, value.named_children)) else None
    return value.child_by_field_name("body") if value.type in names.CALLABLE or value.type == "class" else None


def _holds_function(member: "Node") -> bool:
    value = member.child_by_field_name("value") if member.type == "pair" else None
    return member.type == "method_definition" or (value is not None and value.type in names.CALLABLE)


def _called_at_once(node: "Node") -> "Node | None":
    """The body of `(function () { … })()`, which old modules are wrapped in."""
    held = at("function")(node)
    held = nth_named(held) if held and held.type == "parenthesized_expression" else None
    return held.child_by_field_name("body") if held and held.type in names.CALLABLE else None


def _script_statement(node: "Node") -> "Node | None":
    held = nth_named(node)
    return _script_body(held) if held and held.type == "assignment_expression" else node


def _script() -> Table:
    statements = (
        "statement_block if_statement else_clause try_statement catch_clause finally_clause for_statement "
        "for_in_statement while_statement do_statement switch_statement switch_body switch_case switch_default "
        "labeled_statement class_body class_static_block object ERROR"
    )
    value = Rule(read=names.script_variable, body=_script_body)
    roles = {
        "export_statement": _HEAD,
        "lexical_declaration": _HEAD,
        "variable_declaration": _HEAD,
        "expression_statement": Rule(read=names.script_assignment, body=_script_statement, outer=True),
        "call_expression": Wrapper(inside=_called_at_once),
        "class_declaration": _CLASS,
        "class": Rule(read=default_or("class")),
        "function_declaration": _FUNCTION,
        "generator_function_declaration": _FUNCTION,
        "function_expression": Rule(read=default_or("function")),
        "arrow_function": Rule(read=default_or("function")),
        "method_definition": _METHOD,
        "variable_declarator": value,
        "pair": Rule(read=names.script_pair, body=_script_body),
    }
    return Table(roles=_words(statements, _THROUGH) | roles, marks=frozenset(("decorator",)))


def _javascript() -> Table:
    script = _script()
    return Table(roles={**script.roles, "field_definition": script.roles["variable_declarator"]}, marks=script.marks)


def _typescript() -> Table:
    script = _script()
    roles = {
        "ambient_declaration": _HEAD,
        "abstract_class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "type_alias_declaration": _TYPE,
        "internal_module": _NAMESPACE,
        "module": Rule(read=named("module")),
        "function_signature": _FUNCTION,
        "method_signature": _METHOD,
        "abstract_method_signature": _METHOD,
        "property_signature": Rule(read=named("variable"), outer=True),
        "public_field_definition": script.roles["variable_declarator"],
    }
    return Table(roles={**script.roles, **roles}, marks=script.marks)


def _declared_body(node: "Node") -> "Node | None":
    """A struct with a name is a definition of its own; one without belongs to the variable."""
    of = node.child_by_field_name("type")
    body = of.child_by_field_name("body") if of else None
    return node if of and body and of.child_by_field_name("name") else body


def _c() -> Table:
    blocks = (
        "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef declaration_list field_declaration_list "
        "linkage_specification labeled_statement ERROR"
    )
    struct = Rule(read=declarators.spelled_out("struct"))
    declared = Rule(read=declarators.declaration, body=_declared_body, outer=True, head=True)
    roles = {
        "function_definition": Rule(read=declarators.function),
        "struct_specifier": struct,
        "union_specifier": struct,
        "enum_specifier": Rule(read=declarators.spelled_out("enum")),
        "type_definition": Rule(read=declarators.alias, body=at("type", "body")),
        "declaration": declared,
        "field_declaration": declared,
        "preproc_def": Rule(read=declarators.macro),
        "preproc_function_def": Rule(read=declarators.macro, body=_VALUE),
    }
    marks = frozenset(("attribute_declaration", "attribute_specifier"))
    return Table(roles=_words(blocks, _THROUGH) | roles, marks=marks, nested=False)


def _cpp() -> Table:
    base = _c()
    roles = {
        "template_declaration": _HEAD,
        "class_specifier": Rule(read=declarators.spelled_out("class")),
        "namespace_definition": _NAMESPACE,
        "alias_declaration": _TYPE,
        "concept_definition": _TYPE,
    }
    return Table(roles={**base.roles, **roles}, marks=base.marks, nested=False)


def _java() -> Table:
    roles = {
        "class_declaration": _CLASS,
        "record_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "annotation_type_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "enum_body_declarations": _THROUGH,
        "method_declaration": _METHOD,
        "constructor_declaration": _METHOD,
        "compact_constructor_declaration": _METHOD,
        "annotation_type_element_declaration": _METHOD,
        "field_declaration": Rule(read=each("variable", "variable_declarator")),
        "constant_declaration": Rule(read=each("constant", "variable_declarator")),
        "ERROR": _THROUGH,
    }
    return Table(roles=roles, marks=frozenset(("annotation", "marker_annotation")), nested=False)


def _go_body(node: "Node") -> "Node | None":
    behind = node.child_by_field_name("type")
    return behind if behind and behind.type in ("struct_type", "interface_type") else None


def _go() -> Table:
    roles = {
        "type_declaration": _HEAD,
        "const_declaration": _HEAD,
        "var_declaration": _HEAD,
        "var_spec_list": _THROUGH,
        "type_spec": Rule(read=names.go_type, body=_go_body, worded=True),
        "type_alias": Rule(read=named("type")),
        "function_declaration": _FUNCTION,
        "method_declaration": Rule(read=names.go_method),
        "method_elem": _METHOD,
        "field_declaration_list": _THROUGH,
        "field_declaration": Rule(read=names.go_values("variable")),
        "const_spec": Rule(read=names.go_values("constant")),
        "var_spec": Rule(read=names.go_values("variable")),
        "ERROR": _THROUGH,
    }
    return Table(roles=roles, nested=False)


def _rust_fields(node: "Node") -> "Node | None":
    """The fields in braces; those of `struct Pair(A, B)` belong to the signature."""
    body = node.child_by_field_name("body")
    return body if body and body.type == "field_declaration_list" else None


def _rust() -> Table:
    roles = {
        "struct_item": Rule(read=named("struct"), body=_rust_fields),
        "union_item": Rule(read=named("struct")),
        "enum_item": _ENUM,
        "trait_item": Rule(read=named("trait")),
        "impl_item": Rule(read=names.rust_impl),
        "mod_item": Rule(read=named("module")),
        "function_item": _FUNCTION,
        "function_signature_item": _FUNCTION,
        "macro_definition": Rule(read=named("function"), last=at("name")),
        "const_item": Rule(read=named("constant"), outer=True),
        "static_item": Rule(read=named("variable"), outer=True),
        "field_declaration": Rule(read=named("variable"), outer=True),
        "type_item": _TYPE,
        "associated_type": _TYPE,
        "foreign_mod_item": Wrapper(inside=at("body")),
    }
    return Table(roles=_words("declaration_list ERROR", _THROUGH) | roles, marks=frozenset(("attribute_item",)))


def _csharp() -> Table:
    through = "declaration_list block global_statement if_statement preproc_if preproc_else preproc_elif ERROR"
    field = Rule(read=each("variable", "variable_declarator"), outer=True)
    accessed = first(at("accessors"), _VALUE)
    roles = {
        "namespace_declaration": _NAMESPACE,
        "file_scoped_namespace_declaration": _NAMESPACE,
        "class_declaration": _CLASS,
        "record_declaration": _CLASS,
        "struct_declaration": Rule(read=named("struct")),
        "interface_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "delegate_declaration": _TYPE,
        "method_declaration": _METHOD,
        "constructor_declaration": _METHOD,
        "destructor_declaration": Rule(read=names.csharp_destructor),
        "operator_declaration": Rule(read=names.csharp_operator),
        "conversion_operator_declaration": Rule(read=names.csharp_operator),
        "local_function_statement": _FUNCTION,
        "property_declaration": Rule(read=named("property"), body=accessed),
        "indexer_declaration": Rule(read=names.csharp_indexer, body=accessed),
        "event_declaration": Rule(read=named("property"), body=accessed),
        "event_field_declaration": field,
        "field_declaration": field,
    }
    return Table(roles=_words(through, _THROUGH) | roles, marks=frozenset(("attribute_list",)))


def _ruby() -> Table:
    through = (
        "body_statement call argument_list do_block block begin if unless if_modifier unless_modifier then else elsif "
        "singleton_class ERROR"
    )
    method = Rule(read=named("method"), last=first(at("parameters"), at("name")))
    roles = {
        "module": Rule(read=named("module"), last=at("name")),
        "class": Rule(read=named("class"), last=first(at("superclass"), at("name"))),
        "method": method,
        "singleton_method": method,
        "assignment": Rule(read=names.ruby_assignment, body=at("right", "block"), outer=True),
    }
    return Table(roles=_words(through, _THROUGH) | roles, comment="#")


def _php() -> Table:
    through = (
        "compound_statement declaration_list enum_declaration_list if_statement else_clause else_if_clause "
        "colon_block try_statement ERROR"
    )
    roles = {
        "namespace_definition": _NAMESPACE,
        "class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "trait_declaration": Rule(read=named("trait")),
        "enum_declaration": _ENUM,
        "function_definition": _FUNCTION,
        "method_declaration": _METHOD,
        "const_declaration": Rule(read=each("constant", "const_element"), outer=True),
        "property_declaration": Rule(read=each("variable", "property_element"), outer=True),
    }
    return Table(roles=_words(through, _THROUGH) | roles, marks=frozenset(("attribute_list",)))


def _bash() -> Table:
    through = (
        "compound_statement subshell if_statement elif_clause else_clause for_statement while_statement do_group "
        "case_statement case_item list ERROR"
    )
    variable = Rule(read=names.shell_variable, outer=True)
    roles = {
        "function_definition": _FUNCTION,
        "variable_assignment": variable,
        "declaration_command": variable,
    }
    return Table(roles=_words(through, _THROUGH) | roles, comment="#")


_MAKERS: Mapping[str, Callable[[], Table]] = {
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
def table(language: str) -> Table:
    """The table of a language that has a grammar."""
    return _MAKERS[language]()
