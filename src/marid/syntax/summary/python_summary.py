"""A Python file in a few lines."""

import ast
from collections.abc import Iterator

from marid.syntax.python.imports import module_names
from marid.syntax.python.scopes import assigned_names, docstring_node, docstring_text, is_constant, statements
from marid.syntax.python.source import FUNCTION_NODES, DefinitionNode, PythonSource, read_source


def python_lines(data: bytes) -> Iterator[str]:
    """What the file says of itself, its imports, classes with methods, functions and constants.

    Raises:
        BadInput: it does not parse.
        Exhausted: it is nested too deeply.
    """
    source = read_source(data)
    top = list(statements(source.tree.body))
    if docstring_node(source.tree):
        yield f'"{docstring_text(source.tree).partition(chr(10))[0]}"'
    imported = [name for node in top if isinstance(node, ast.Import | ast.ImportFrom) for name in module_names(node)]
    yield from _name_list("imports", imported)
    for node in top:
        if isinstance(node, ast.ClassDef):
            yield from _class_lines(source, node)
    functions = [f"  {_signature_line(source, node)}" for node in top if isinstance(node, FUNCTION_NODES)]
    if functions:
        yield from ("functions:", *functions)
    yield from _name_list("constants", [name for node in top for name in assigned_names(node) if is_constant(name)])
    yield from _name_list("variables", [name for node in top for name in assigned_names(node) if not is_constant(name)])


def _class_lines(source: PythonSource, node: ast.ClassDef) -> Iterator[str]:
    yield _signature_line(source, node)
    for each in statements(node.body):
        if isinstance(each, (*FUNCTION_NODES, ast.ClassDef)):
            yield f"  {_signature_line(source, each)}"


def _signature_line(source: PythonSource, node: DefinitionNode) -> str:
    start, end = source.line_span(node)
    return f"{' '.join(source.signature(node).split())} (Lines {start}-{end})"


def _name_list(title: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"{title}: {', '.join(dict.fromkeys(names))}"
