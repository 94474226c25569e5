"""Find the definitions and variables of a Python file by dotted name."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from marid.core.errors import BadInput, NotFound
from marid.syntax.names import split_line_suffix, suggestion
from marid.syntax.python.scopes import assigned_names
from marid.syntax.python.source import DEFINITION_NODES, FUNCTION_NODES, DefinitionNode, PythonSource

ScopeNode: TypeAlias = ast.Module | DefinitionNode
_HOLDERS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
_BLOCKS = ("body", "orelse", "finalbody")
_MAX_NAME_LENGTH = 500
_MAX_NAMES = 5000


@dataclass(frozen=True, kw_only=True)
class BlockStatement:
    """A statement and the block that contains it."""

    node: ast.stmt
    block: list[ast.stmt]

    @property
    def index(self) -> int:
        return next(at for at, node in enumerate(self.block) if node is self.node)


NameTable: TypeAlias = Callable[[ast.AST], dict[str, list[BlockStatement]]]


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements directly in a node."""
    for field in _BLOCKS:
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def scope_statements(scope: ast.AST) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
    """Every statement of a scope with its block, in any order; those inside definitions are not part of the scope."""
    pending = list(blocks(scope))
    while pending:
        block = pending.pop()
        for node in block:
            yield node, block
            if isinstance(node, _HOLDERS):
                pending.extend(blocks(node))


def definitions(scope: ast.AST) -> dict[str, list[BlockStatement]]:
    """The functions and classes of a scope by name, each list in source order."""
    return _by_name(scope, lambda node: (node.name,) if isinstance(node, DEFINITION_NODES) else ())


def variables(scope: ast.AST) -> dict[str, list[BlockStatement]]:
    """The assignments of a scope by the names they declare, each list in source order."""
    return _by_name(scope, assigned_names)


def _by_name(scope: ast.AST, names: Callable[[ast.stmt], Iterable[str]]) -> dict[str, list[BlockStatement]]:
    found: dict[str, list[BlockStatement]] = {}
    for node, block in scope_statements(scope):
        for name in dict.fromkeys(names(node)):
            found.setdefault(name, []).append(BlockStatement(node=node, block=block))
    for same in found.values():
        same.sort(key=lambda one: (one.node.lineno, one.node.col_offset))
    return found


def locate_definition(source: PythonSource, name: str) -> BlockStatement:
    """The one function or class of this name. Raises: BadInput if it is ambiguous, NotFound."""
    return _locate_only(source, name, definitions)


def locate_definition_node(source: PythonSource, name: str) -> DefinitionNode:
    """Like `locate_definition`, without the block."""
    return cast("DefinitionNode", locate_definition(source, name).node)


def locate_variable(source: PythonSource, name: str) -> BlockStatement:
    """The one declaration of a variable of the module or a class. Raises: BadInput if it is ambiguous, NotFound."""
    return _locate_only(source, name, _declared_variables)


def _declared_variables(scope: ast.AST) -> dict[str, list[BlockStatement]]:
    return {} if isinstance(scope, FUNCTION_NODES) else variables(scope)


def _locate_only(source: PythonSource, name: str, table: NameTable) -> BlockStatement:
    path, line = split_name(name)
    scopes: list[ast.AST] = [source.tree]
    for part in path[:-1]:
        scopes = [one.node for scope in scopes for one in definitions(scope).get(part, ())]
    found = [one for scope in scopes for one in table(scope).get(path[-1], ())]
    found = on_line(source, found, line)
    if not found:
        raise NotFound(missing_message(source, name, table))
    if len(found) > 1:
        raise BadInput(ambiguity_message(source, name, found))
    return found[0]


def locate_scope(source: PythonSource, path: Sequence[str]) -> ScopeNode:
    """The module for an empty path, else the one function or class of this name. Raises: BadInput, NotFound."""
    return locate_definition_node(source, ".".join(path)) if path else source.tree


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
    spans = ((one, *source.line_span(one.node)) for one in found)
    return [one for one, first, last in spans if not line or first <= line <= last]


def ambiguity_message(source: PythonSource, name: str, found: Sequence[BlockStatement]) -> str:
    """The message for a name that several definitions have."""
    lines = [source.line_span(one.node)[0] for one in found]
    shown = ", ".join(map(str, lines[:20]))
    return f"'{name}' is ambiguous: defined at lines {shown}; choose one, as in '{name.partition('@')[0]}@{lines[0]}'"


def missing_message(source: PythonSource, name: str, table: NameTable) -> str:
    """The message for an unknown name, with similar names."""
    path, line = split_name(name)
    known, dotted = _all_names(source.tree, table), ".".join(path)
    if line and dotted in known:
        return f"'{dotted}' is not at line {line}"
    near = suggestion(dotted, known)
    if dotted in _all_names(source.tree, variables if table is definitions else definitions):
        kinds = {True: "a variable, not a function or class", False: "a function or class, not a variable"}
        return f"'{dotted}' is {kinds[table is definitions]}{near}"
    return f"'{dotted}' is not defined in the file{near}"


def _all_names(tree: ast.Module, table: NameTable) -> list[str]:
    names: list[str] = []
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending and len(names) < _MAX_NAMES:
        prefix, scope = pending.pop()
        names.extend(prefix + name for name in table(scope))
        for name, found in definitions(scope).items():
            pending.extend((f"{prefix}{name}.", one.node) for one in found)
    return names
