"""A Python class in short: its docstring, its variables and the signatures of its methods."""

import ast
from collections.abc import Iterator

from marid.core.errors import BadInput
from marid.syntax.pyview_docstrings import clean
from marid.syntax.pyview_outline import variables
from marid.syntax.pyview_scopes import FUNCTIONS, Function, named, statements
from marid.syntax.pyview_source import Source, read

_LONGEST = 200


def py_class(data: bytes, name: str) -> str:
    """The class of a dotted name.

    Raises:
        BadInput: the file does not parse, the name is no class, or several classes have it.
        NotFound: there is no such definition.
        Exhausted: the file is nested too deeply.
    """
    source = read(data)
    found = named(source.tree.body, name)
    classes = [node for node in found if isinstance(node, ast.ClassDef)]
    if not classes:
        raise BadInput(f"'{name}' is a function, not a class")
    if len(classes) > 1:
        lines = ", ".join(str(source.span(node)[0]) for node in classes)
        raise BadInput(f"'{name}' is ambiguous: classes of this name are at lines {lines}")
    return "\n".join(_summary(source, classes[0]))


def _summary(source: Source, node: ast.ClassDef) -> Iterator[str]:
    yield from _decorators(source, node, "")
    yield f"{source.signature(node)} {_lines(source, node)}"
    if doc := clean(node):
        yield from ('"""', *doc.split("\n"), '"""')
    inside = list(statements(node.body))
    parts = {
        "Variables": [_variable(source, each) for each in inside if any(variables(each))],
        "Methods": [line for each in inside if isinstance(each, FUNCTIONS) for line in _method(source, each)],
        "Classes": [_titled(source, each) for each in inside if isinstance(each, ast.ClassDef)],
    }
    for title, lines in parts.items():
        if lines:
            yield from ("", f"{title}:", *lines)


def _method(source: Source, node: Function) -> Iterator[str]:
    yield from _decorators(source, node, "  ")
    yield _titled(source, node)
    if doc := clean(node):
        yield f"    {_short(doc.partition(chr(10))[0])}"


def _titled(source: Source, node: Function | ast.ClassDef) -> str:
    return f"  {source.signature(node)} {_lines(source, node)}"


def _variable(source: Source, node: ast.stmt) -> str:
    words = " ".join(source.text(source.start(node), source.end(node)).split())
    return f"  {_short(words)} {_lines(source, node)}"


def _decorators(source: Source, node: Function | ast.ClassDef, indent: str) -> Iterator[str]:
    for each in node.decorator_list:
        yield f"{indent}@{_short(' '.join(source.text(source.start(each), source.end(each)).split()))}"


def _lines(source: Source, node: ast.stmt) -> str:
    start, end = source.span(node)
    return f"(Lines {start}-{end})"


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
