"""A Python class in short: its docstring, its variables and the signatures of its methods."""

import ast
from collections.abc import Iterator

from marid.core.errors import BadInput
from marid.syntax.python.docstrings import docstring_text
from marid.syntax.python.outline import assigned_names
from marid.syntax.python.scopes import FUNCTION_NODES, FunctionNode, find_named, statements
from marid.syntax.python.source import PythonSource, read_source

_MAX_LENGTH = 200


def py_class_summary(data: bytes, name: str) -> str:
    """The class of a dotted name.

    Raises:
        BadInput: the file does not parse, the name is no class, or several classes have it.
        NotFound: there is no such definition.
        Exhausted: the file is nested too deeply.
    """
    source = read_source(data)
    found = find_named(source.tree.body, name)
    classes = [node for node in found if isinstance(node, ast.ClassDef)]
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
        "Variables": [_variable_line(source, each) for each in inside if any(assigned_names(each))],
        "Methods": [
            line for each in inside if isinstance(each, FUNCTION_NODES) for line in _method_lines(source, each)
        ],
        "Classes": [_signature_line(source, each) for each in inside if isinstance(each, ast.ClassDef)],
    }
    for title, lines in parts.items():
        if lines:
            yield from ("", f"{title}:", *lines)


def _method_lines(source: PythonSource, node: FunctionNode) -> Iterator[str]:
    yield from _decorator_lines(source, node, "  ")
    yield _signature_line(source, node)
    if doc := docstring_text(node):
        yield f"    {_shorten(doc.partition(chr(10))[0])}"


def _signature_line(source: PythonSource, node: FunctionNode | ast.ClassDef) -> str:
    return f"  {source.signature(node)} {_line_range(source, node)}"


def _variable_line(source: PythonSource, node: ast.stmt) -> str:
    words = " ".join(source.text(source.start(node), source.end(node)).split())
    return f"  {_shorten(words)} {_line_range(source, node)}"


def _decorator_lines(source: PythonSource, node: FunctionNode | ast.ClassDef, indent: str) -> Iterator[str]:
    for each in node.decorator_list:
        yield f"{indent}@{_shorten(' '.join(source.text(source.start(each), source.end(each)).split()))}"


def _line_range(source: PythonSource, node: ast.stmt) -> str:
    start, end = source.line_span(node)
    return f"(Lines {start}-{end})"


def _shorten(words: str) -> str:
    return words if len(words) <= _MAX_LENGTH else words[: _MAX_LENGTH - 1] + "…"
