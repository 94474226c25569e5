"""Find the definitions and variables of a Python file by dotted name."""

import ast
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeAlias, cast

from marid.core.errors import BadInput, NotFound
from marid.syntax.names import split_line_suffix, suggestion
from marid.syntax.python.scopes import BlockStatement, all_definitions, assigned_names, block_statements
from marid.syntax.python.source import DEFINITION_NODES, FUNCTION_NODES, DefinitionNode, PythonSource

ScopeNode: TypeAlias = ast.Module | DefinitionNode
StatementsByName: TypeAlias = dict[str, list[BlockStatement]]
NameTable: TypeAlias = Callable[[ScopeNode], StatementsByName]
_MAX_NAME_LENGTH = 500
_MAX_NAMES = 5000


def definitions_by_name(scope: ScopeNode) -> StatementsByName:
    """The functions and classes of a scope, each list in source order."""
    return _by_name(scope, lambda node: (node.name,) if isinstance(node, DEFINITION_NODES) else ())


def variables_by_name(scope: ScopeNode) -> StatementsByName:
    """The assignments of a scope by the names they declare, each list in source order."""
    return _by_name(scope, assigned_names)


def _by_name(scope: ScopeNode, names: Callable[[ast.stmt], Iterable[str]]) -> StatementsByName:
    found: StatementsByName = {}
    for node, block in block_statements(scope.body):
        for name in dict.fromkeys(names(node)):
            found.setdefault(name, []).append(BlockStatement(node, block))
    return found


def _declared_variables(scope: ScopeNode) -> StatementsByName:
    return {} if isinstance(scope, FUNCTION_NODES) else variables_by_name(scope)


def locate_definition(source: PythonSource, name: str) -> BlockStatement:
    """The one function or class of this name. Raises: BadInput if it is ambiguous, NotFound."""
    return _locate_only(source, name, definitions_by_name)


def locate_definition_node(source: PythonSource, name: str) -> DefinitionNode:
    """Like `locate_definition`, without the block."""
    return cast("DefinitionNode", locate_definition(source, name).node)


def locate_variable(source: PythonSource, name: str) -> BlockStatement:
    """The one declaration of a variable of the module or a class. Raises: BadInput if it is ambiguous, NotFound."""
    return _locate_only(source, name, _declared_variables)


def _locate_only(source: PythonSource, name: str, table: NameTable) -> BlockStatement:
    path, line = split_name(name)
    owner = ".".join(path[:-1])
    scopes = [node for known, node in all_definitions(source.tree.body) if known == owner] if owner else [source.tree]
    found = on_line(source, [each for scope in scopes for each in table(scope).get(path[-1], ())], line)
    if not found:
        raise NotFound(missing_message(source, name, table))
    if len(found) > 1:
        raise BadInput(ambiguity_message(source, name, found))
    return found[0]


def split_name(name: str) -> tuple[list[str], int]:
    """The parts of a dotted name, and the line of `f@12`, or 0. Raises: BadInput."""
    dotted, line = split_line_suffix(name.strip())
    path = dotted.split(".")
    if len(name) > _MAX_NAME_LENGTH or not all(part.isidentifier() for part in path):
        shown = name[:60].encode("unicode_escape").decode() + ("..." if len(name) > 60 else "")
        raise BadInput(f"'{shown}' is not a dotted name such as 'f', 'Class.method' or 'outer.inner'")
    if not name.isascii():
        from unicodedata import normalize  # imported on use: most names are ASCII

        path = [normalize("NFKC", part) for part in path]  # as Python reads identifiers
    return path, line


def on_line(source: PythonSource, found: list[BlockStatement], line: int) -> list[BlockStatement]:
    """Those that contain the line; all of them for line 0."""
    spans = ((each, *source.line_span(each.node)) for each in found)
    return [each for each, first, last in spans if not line or first <= line <= last]


def ambiguity_message(source: PythonSource, name: str, found: Sequence[BlockStatement]) -> str:
    """The message for a name that several definitions have."""
    lines = [source.line_span(each.node)[0] for each in found]
    shown = ", ".join(map(str, lines[:20]))
    return f"'{name}' is ambiguous: defined at lines {shown}; choose one, as in '{name.partition('@')[0]}@{lines[0]}'"


def missing_message(source: PythonSource, name: str, table: NameTable) -> str:
    """The message for an unknown name, with similar names."""
    path, line = split_name(name)
    known, dotted = _all_names(source.tree, table), ".".join(path)
    if line and dotted in known:
        return f"'{dotted}' is not at line {line}"
    near = suggestion(dotted, known)
    is_definition = table is definitions_by_name
    if dotted in _all_names(source.tree, variables_by_name if is_definition else definitions_by_name):
        kind = "a variable, not a function or class" if is_definition else "a function or class, not a variable"
        return f"'{dotted}' is {kind}{near}"
    return f"'{dotted}' is not defined in the file{near}"


def _all_names(tree: ast.Module, table: NameTable) -> list[str]:
    names = [*table(tree)]
    inner = (f"{scope}.{name}" for scope, node in all_definitions(tree.body) for name in table(node))
    return [*names, *islice(inner, _MAX_NAMES)]
