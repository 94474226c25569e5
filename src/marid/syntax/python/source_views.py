"""The outline and the skeleton of a Python file."""

import ast
import re
from collections.abc import Iterator

from marid.syntax.python.scopes import assigned_names, definitions, docstring_node, is_constant, statements
from marid.syntax.python.source import (
    DEFINITION_NODES,
    FUNCTION_NODES,
    DefinitionNode,
    FunctionNode,
    PythonSource,
    read_source,
)

Cut = tuple[int, int, str]
_SPACE = " \t\f"
_LINE_REST = re.compile(r"[^\r\n]*")
_LINE_END = re.compile(r"\r\n?|\n")
# Atomic groups: reading `\r\n` in two ways would double the work with every line.
_COMMENT_BELOW = re.compile(r"(?>[ \t\f]*(?>\r\n?|\n))++([ \t\f]+)#[^\r\n]*")


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


def py_skeleton(data: bytes) -> str:
    """The file with `...` for the bodies of functions, docstrings kept; it parses. Raises as `read_source`."""
    source = read_source(data)
    parts: list[str] = []
    at = 0
    for start, end, instead in _skeleton_cuts(source):
        parts += (source.text[at:start], instead)
        at = end
    return "".join((*parts, source.text[at:]))


def _skeleton_cuts(source: PythonSource) -> Iterator[Cut]:
    waiting = list(definitions(source.tree.body))[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, FUNCTION_NODES):
            yield from _body_cuts(source, node)
        else:
            waiting.extend(list(definitions(node.body))[::-1])


def _body_cuts(source: PythonSource, node: FunctionNode) -> Iterator[Cut]:
    """Cut the body of a function, but not its docstring."""
    doc = docstring_node(node)
    if doc is None:
        yield _whole_body_cut(source, node)
    elif len(node.body) > 1:
        start = source.end(doc)
        # Code after `;` cannot move to its own line: the docstring may follow the colon.
        if source.text[start : source.start_with_decorators(node.body[1])].lstrip(" \t\f\\\r\n").startswith(";"):
            yield start, source.end(node.body[-1]), "; ..."
        else:
            indent = source.text[source.row_starts[doc.lineno - 1] : source.start(doc)]
            end = _LINE_END.search(source.text, start)
            yield start, _body_end(source, node, len(indent)), (end.group() if end else "\n") + indent + "..."


def _whole_body_cut(source: PythonSource, node: FunctionNode) -> Cut:
    """Comments between the signature and the first statement are cut too; one after the colon stays."""
    start = source.start_with_decorators(node.body[0])
    row = source.row_starts[source.first_row(node.body[0])]
    indent = source.text[row:start]
    header = source.header_span(node)[1]
    if indent.strip(_SPACE) or source.text[header:row].strip(" \t\f\r\n").startswith("\\"):
        return start, source.end(node.body[-1]), "..."
    found = _LINE_REST.match(source.text, header)
    end = _LINE_END.match(source.text, found.end() if found else header)
    return end.end() if end else row, _body_end(source, node, len(indent)), indent + "..."


def _body_end(source: PythonSource, node: FunctionNode, width: int) -> int:
    """The end of the body, with the rest of its last line and the comments below with its indentation."""
    found = _LINE_REST.match(source.text, source.end(node.body[-1]))
    end = found.end() if found else len(source.text)
    while (found := _COMMENT_BELOW.match(source.text, end)) and len(found.group(1)) >= width:
        end = found.end()
    return end
