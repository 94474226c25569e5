"""The outline of a Python file: what is defined outside function bodies, each with its lines."""

import ast
from collections.abc import Iterator

from marid.syntax.python.scopes import assigned_names, is_constant, statements
from marid.syntax.python.source import DEFINITION_NODES, DefinitionNode, PythonSource, read_source


def py_outline(data: bytes) -> str:
    """One line for each class, function and variable, nested by two spaces. Raises as `read_source`."""
    return "\n".join(_outline_lines(read_source(data)))


def _outline_lines(source: PythonSource) -> Iterator[str]:
    waiting: list[tuple[int, bool, Iterator[ast.stmt]]] = [(0, False, statements(source.tree.body))]
    while waiting:
        depth, in_class, rest = waiting[-1]
        for node in rest:
            for kind, name in _kinds_and_names(node, in_class=in_class):
                start, end = source.line_span(node)
                yield f"{'  ' * depth}[{kind}] {name} (Lines {start}-{end})"
            if isinstance(node, ast.ClassDef):
                waiting.append((depth + 1, True, statements(node.body)))
                break
        else:
            waiting.pop()


def _kinds_and_names(node: ast.stmt, *, in_class: bool) -> Iterator[tuple[str, str]]:
    """Kind and name of what a statement defines: several for `a = b = 1`, none for most statements."""
    if isinstance(node, DEFINITION_NODES):
        yield _kind(node, in_class=in_class), node.name
    else:
        for name in assigned_names(node):
            yield "Constant" if is_constant(name) else "Variable", name


def _kind(node: DefinitionNode, *, in_class: bool) -> str:
    if isinstance(node, ast.ClassDef):
        return "Class"
    kind = "Method" if in_class else "Function"
    return f"Async {kind}" if isinstance(node, ast.AsyncFunctionDef) else kind
