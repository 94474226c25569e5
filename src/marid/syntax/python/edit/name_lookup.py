"""Finding by dotted name what a Python file defines, and the rows it takes."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.edit.editable_source import EditableSource

DefinitionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
ScopeNode: TypeAlias = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_HOLDERS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
_BLOCKS = ("body", "orelse", "finalbody")
_NAME_AT_LINE = re.compile(r"(.*)@([0-9]{1,9})", re.DOTALL)
_MAX_NAME_LENGTH = 500
_MAX_NAMES = 5000


@dataclass(frozen=True, kw_only=True)
class BlockStatement:
    """A statement and the block it stands in."""

    node: ast.stmt
    block: list[ast.stmt]

    @property
    def index(self) -> int:
        """Its place in the block."""
        return next(at for at, node in enumerate(self.block) if node is self.node)


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements directly in a node."""
    for field in _BLOCKS:
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def scope_statements(scope: ast.AST) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
    """Every statement of a scope with its block, in no order.

    Those in its `if`, `try`, `with` and the like are of the scope, those inside its definitions are not.
    """
    pending = list(blocks(scope))
    while pending:
        block = pending.pop()
        for node in block:
            yield node, block
            if isinstance(node, _HOLDERS):
                pending.extend(blocks(node))


def definitions(scope: ast.AST) -> dict[str, list[BlockStatement]]:
    """The functions and classes of a scope by name, each list in the order of the file."""
    named: dict[str, list[BlockStatement]] = {}
    for node, block in scope_statements(scope):
        if isinstance(node, DEFINITION_NODES):
            named.setdefault(node.name, []).append(BlockStatement(node=node, block=block))
    return _sort_by_position(named)


def variables(scope: ast.AST) -> dict[str, list[BlockStatement]]:
    """The assignments of a scope by the names they bind; `+=` and `:=` declare nothing."""
    named: dict[str, list[BlockStatement]] = {}
    for node, block in scope_statements(scope):
        for name in dict.fromkeys(bound_names(node)):
            named.setdefault(name, []).append(BlockStatement(node=node, block=block))
    return _sort_by_position(named)


def _sort_by_position(named: dict[str, list[BlockStatement]]) -> dict[str, list[BlockStatement]]:
    for found in named.values():
        found.sort(key=lambda one: (one.node.lineno, one.node.col_offset))
    return named


def bound_names(node: ast.stmt) -> Iterator[str]:
    """The names that an assignment, annotated or not, or a type alias declares."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = list(reversed(node.targets))
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    elif type(node).__name__ == "TypeAlias":  # since Python 3.12
        targets = [getattr(node, "name")]  # noqa: B009
    while targets:
        target = targets.pop()
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Tuple | ast.List):
            targets.extend(reversed(target.elts))
        elif isinstance(target, ast.Starred):
            targets.append(target.value)


def locate_definition(source: EditableSource, tree: ast.Module, name: str) -> BlockStatement:
    """The one function or class of this name. Raises: BadInput if it is ambiguous, NotFound."""
    return _locate_only(source, tree, name, definitions)


def locate_definition_node(source: EditableSource, tree: ast.Module, name: str) -> DefinitionNode:
    """As `definition`, where its block does not matter."""
    return cast("DefinitionNode", locate_definition(source, tree, name).node)


def locate_variable(source: EditableSource, tree: ast.Module, name: str) -> BlockStatement:
    """The one declaration of a variable of the module or of a class. Raises: BadInput if ambiguous, NotFound."""
    return _locate_only(source, tree, name, _declared_variables)


def _declared_variables(scope: ast.AST) -> dict[str, list[BlockStatement]]:
    return {} if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) else variables(scope)


def _locate_only(
    source: EditableSource, tree: ast.Module, name: str, table: "Callable[[ast.AST], dict[str, list[BlockStatement]]]"
) -> BlockStatement:
    path, line = split_name(name)
    scopes: list[ast.AST] = [tree]
    for part in path[:-1]:
        scopes = [one.node for scope in scopes for one in definitions(scope).get(part, ())]
    found = [one for scope in scopes for one in table(scope).get(path[-1], ())]
    if line is not None:
        found = [one for one in found if _contains_line(source, one.node, line)]
    if not found:
        raise NotFound(missing_message(tree, name, table))
    if len(found) > 1:
        raise BadInput(ambiguity_message(source, name, found))
    return found[0]


def locate_scope(source: EditableSource, tree: ast.Module, path: Sequence[str]) -> ScopeNode:
    """The module, for no name at all, or the one function or class of this name. Raises: BadInput, NotFound."""
    if not path:
        return tree
    return locate_definition_node(source, tree, ".".join(path))


def split_name(name: str) -> tuple[list[str], int | None]:
    """The parts of a dotted name, and the line that says which one is meant (`f@12`). Raises: BadInput."""
    picked = _NAME_AT_LINE.fullmatch(name.strip())
    path = (picked[1] if picked else name.strip()).split(".")
    if len(name) > _MAX_NAME_LENGTH or not all(part.isidentifier() for part in path):
        raise BadInput(f"'{_shorten(name)}' is no dotted name such as 'f', 'Class.method' or 'outer.inner'")
    if not name.isascii():
        from unicodedata import normalize  # imported when used: names are rarely more than ASCII

        path = [normalize("NFKC", part) for part in path]  # as Python reads identifiers
    return path, int(picked[2]) if picked else None


def _shorten(name: str) -> str:
    return name[:60].encode("unicode_escape").decode() + ("..." if len(name) > 60 else "")


def _contains_line(source: EditableSource, node: ast.stmt, line: int) -> bool:
    first, end = row_span(source, node)
    return source.line_number(source.row_starts[first]) <= line <= source.line_number(source.row_starts[end] - 1)


def row_span(source: EditableSource, node: ast.stmt) -> tuple[int, int]:
    """The rows of a statement, from its first decorator on; the second number is the row behind it."""
    return first_row(source, node), node.end_lineno or node.lineno


def first_row(source: EditableSource, node: ast.stmt) -> int:
    """The row of a statement or of its first decorator's `@`, which may stand before the expression's row."""
    decorators = getattr(node, "decorator_list", None)
    if not decorators:
        return node.lineno - 1
    row = decorators[0].lineno - 1
    while not source.row(row).lstrip(" \t\f").startswith("@"):
        row -= 1
    return row


def ambiguity_message(source: EditableSource, name: str, found: Sequence[BlockStatement]) -> str:
    """The words for a name that means several things."""
    lines = [source.line_number(source.row_starts[first_row(source, one.node)]) for one in found]
    shown = ", ".join(map(str, lines[:20]))
    return (
        f"'{name}' is ambiguous: defined at lines {shown}; say which one, as in '{name.partition('@')[0]}@{lines[0]}'"
    )


def missing_message(tree: ast.Module, name: str, table: "Callable[[ast.AST], dict[str, list[BlockStatement]]]") -> str:
    """The words for a name that nothing has, with the nearest ones that there are."""
    from difflib import get_close_matches  # imported when used: only failures need it

    path, line = split_name(name)
    there = _all_names(tree, table)
    dotted = ".".join(path)
    if line is not None and dotted in there:
        return f"'{dotted}' is not at line {line}"
    leaves = [one for one in there if one.rpartition(".")[2].lower() == path[-1].lower()]
    nearest = list(dict.fromkeys([*leaves, *get_close_matches(dotted, there, n=5, cutoff=0.5)]))[:5]
    known = f"; nearest: {', '.join(nearest)}" if nearest else ""
    other = variables if table is definitions else definitions
    kinds = {True: "a variable, not a function or class", False: "a function or class, not a variable"}
    if dotted in _all_names(tree, other):
        return f"'{dotted}' is {kinds[table is definitions]}{known}"
    return f"'{dotted}' is not defined in the file{known}"


def _all_names(tree: ast.Module, table: "Callable[[ast.AST], dict[str, list[BlockStatement]]]") -> list[str]:
    names: list[str] = []
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending and len(names) < _MAX_NAMES:
        prefix, scope = pending.pop()
        names.extend(prefix + name for name in table(scope))
        for name, found in definitions(scope).items():
            pending.extend((f"{prefix}{name}.", one.node) for one in found)
    return names
