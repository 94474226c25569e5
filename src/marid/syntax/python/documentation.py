"""Docstrings, and short descriptions of classes: docstring, variables, signatures of methods."""

import ast
from collections.abc import Iterator

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.scopes import assigned_names, docstring_text, find_named, statements
from marid.syntax.python.source import FUNCTION_NODES, DefinitionNode, PythonSource, read_source
from marid.text.display import clip

MODULE = "module"
_MAX_LENGTH = 200


def py_class_summary(data: bytes, name: str) -> str:
    """The summary of a class by dotted name.

    Raises: NotFound, BadInput if the name is not a class or is ambiguous, and as `read_source`.
    """
    source = read_source(data)
    classes = [node for node in find_named(source.tree.body, name) if isinstance(node, ast.ClassDef)]
    if not classes:
        raise BadInput(f"'{name}' is a function, not a class")
    if len(classes) > 1:
        lines = ", ".join(str(source.line_span(node)[0]) for node in classes)
        raise BadInput(f"'{name}' is ambiguous: classes of this name are at lines {lines}")
    return "\n".join(_summary_lines(source, classes[0]))


def _summary_lines(source: PythonSource, node: ast.ClassDef) -> Iterator[str]:
    yield from _decorator_lines(source, node, "")
    yield f"{source.signature(node)} {_line_range(source, node)}"
    if doc := docstring_text(node):
        yield from ('"""', *doc.split("\n"), '"""')
    inside = list(statements(node.body))
    parts = {
        "Variables": [
            f"  {clip(source.node_line(each), _MAX_LENGTH)} {_line_range(source, each)}"
            for each in inside
            if any(assigned_names(each))
        ],
        "Methods": [
            line for each in inside if isinstance(each, FUNCTION_NODES) for line in _method_lines(source, each)
        ],
        "Classes": [_signature_line(source, each) for each in inside if isinstance(each, ast.ClassDef)],
    }
    for title, lines in parts.items():
        if lines:
            yield from ("", f"{title}:", *lines)


def _method_lines(source: PythonSource, node: DefinitionNode) -> Iterator[str]:
    yield from _decorator_lines(source, node, "  ")
    yield _signature_line(source, node)
    if doc := docstring_text(node):
        yield f"    {clip(doc.partition(chr(10))[0], _MAX_LENGTH)}"


def _signature_line(source: PythonSource, node: DefinitionNode) -> str:
    return f"  {source.signature(node)} {_line_range(source, node)}"


def _decorator_lines(source: PythonSource, node: DefinitionNode, indent: str) -> Iterator[str]:
    for each in node.decorator_list:
        yield f"{indent}@{clip(source.node_line(each), _MAX_LENGTH)}"


def _line_range(source: PythonSource, node: ast.stmt) -> str:
    start, end = source.line_span(node)
    return f"(Lines {start}-{end})"


def py_docstring(data: bytes, name: str) -> str:
    """The docstring of the file (`module`) or of a definition, without its indentation.

    Raises: NotFound, BadInput if definitions of the name have different docstrings, and as `read_source`.
    """
    source = read_source(data)
    owners = [source.tree] if name.strip() == MODULE else find_named(source.tree.body, name)
    found = {text: owner for owner in owners if (text := docstring_text(owner))}
    if len(found) > 1:
        lines = ", ".join(
            str(source.line_span(owner)[0]) for owner in found.values() if not isinstance(owner, ast.Module)
        )
        raise BadInput(f"'{name}' is ambiguous: definitions with their own docstrings are at lines {lines}")
    if not found:
        raise NotFound("the file has no docstring" if name.strip() == MODULE else f"'{name}' has no docstring")
    return next(iter(found))
