"""A Python file in a few lines."""

import ast
from collections.abc import Iterator

from marid.syntax.pyview_docstrings import clean
from marid.syntax.pyview_imports import modules
from marid.syntax.pyview_outline import is_constant, variables
from marid.syntax.pyview_scopes import FUNCTIONS, Defined, docstring, statements
from marid.syntax.pyview_source import Source, read


def python_lines(data: bytes) -> Iterator[str]:
    """What the file says of itself, its imports, classes with methods, functions and constants.

    Raises:
        BadInput: it does not parse.
        Exhausted: it is nested too deeply.
    """
    source = read(data)
    top = list(statements(source.tree.body))
    if docstring(source.tree):
        yield f'"{clean(source.tree).partition(chr(10))[0]}"'
    imported = [name for node in top if isinstance(node, ast.Import | ast.ImportFrom) for name in modules(node)]
    yield from _listed("imports", imported)
    for node in top:
        if isinstance(node, ast.ClassDef):
            yield from _class(source, node)
    functions = [f"  {_words(source, node)}" for node in top if isinstance(node, FUNCTIONS)]
    if functions:
        yield from ("functions:", *functions)
    yield from _listed("constants", [name for node in top for name in variables(node) if is_constant(name)])
    yield from _listed("variables", [name for node in top for name in variables(node) if not is_constant(name)])


def _class(source: Source, node: ast.ClassDef) -> Iterator[str]:
    yield _words(source, node)
    for each in statements(node.body):
        if isinstance(each, (*FUNCTIONS, ast.ClassDef)):
            yield f"  {_words(source, each)}"


def _words(source: Source, node: Defined) -> str:
    start, end = source.span(node)
    return f"{' '.join(source.signature(node).split())} (Lines {start}-{end})"


def _listed(title: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"{title}: {', '.join(dict.fromkeys(names))}"
