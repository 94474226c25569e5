"""A Python class in short: its docstring, its variables and the signatures of its methods."""

import ast
from collections.abc import Iterator

from marid.core.errors import BadInput
from marid.syntax.python.scopes import assigned_names, docstring_text, find_named, statements
from marid.syntax.python.source import FUNCTION_NODES, DefinitionNode, PythonSource, read_source
from marid.text.display import clip

_MAX_LENGTH = 200


def py_class_summary(data: bytes, name: str) -> str:
    """The class of a dotted name.

    Raises:
        BadInput: the file does not parse, the name is not a class, or several classes have it.
        NotFound: there is no such definition.
        Exhausted: the file is nested too deeply.
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
