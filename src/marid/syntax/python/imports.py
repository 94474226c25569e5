"""The imports of a Python file."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from marid.syntax.python.scopes import statements
from marid.syntax.python.source import DEFINITION_NODES, read_source


@dataclass(frozen=True, kw_only=True)
class ImportStatement:
    """One import statement."""

    line: int
    modules: tuple[str, ...]
    """With the dots of relative imports."""
    text: str
    """On one line."""
    scope: str
    """The dotted name of the enclosing definition; empty at top level."""


def py_imports(data: bytes) -> tuple[ImportStatement, ...]:
    """Every import statement in source order, also inside definitions. Raises as `read_source`."""
    source = read_source(data)
    found = [
        ImportStatement(
            line=source.line_of_row(node.lineno - 1), modules=module_names(node), text=statement_text(node), scope=scope
        )
        for scope, node in _find_imports(source.tree.body)
    ]
    return tuple(sorted(found, key=lambda each: each.line))


def _find_imports(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.Import | ast.ImportFrom]]:
    waiting = [("", body)]
    while waiting:
        scope, inside = waiting.pop()
        for node in statements(inside):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield scope, node
            elif isinstance(node, DEFINITION_NODES):
                waiting.append((f"{scope}.{node.name}".lstrip("."), node.body))


def module_names(node: ast.Import | ast.ImportFrom) -> tuple[str, ...]:
    """The modules that a statement names."""
    if isinstance(node, ast.Import):
        return tuple(alias.name for alias in node.names)
    return ("." * node.level + (node.module or ""),)


def statement_text(node: ast.Import | ast.ImportFrom) -> str:
    """The statement without its formatting."""
    names = ", ".join(f"{each.name} as {each.asname}" if each.asname else each.name for each in node.names)
    return f"import {names}" if isinstance(node, ast.Import) else f"from {module_names(node)[0]} import {names}"
