"""Views of a Python file: outline, skeleton, imports, docstrings and short descriptions of classes."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.scopes import (
    all_definitions,
    assigned_names,
    definitions,
    docstring_node,
    docstring_text,
    find_named,
    statements,
)
from marid.syntax.python.source import FUNCTION_NODES, DefinitionNode, FunctionNode, PythonSource, read_source
from marid.syntax.treesitter.nodes import cut_pieces
from marid.text.display import clip

Cut: TypeAlias = tuple[int, int, str]
MODULE = "module"
_MAX_LENGTH = 200
_LINE_REST = re.compile(r"[^\r\n]*")
_LINE_END = re.compile(r"\r\n?|\n")
# Atomic groups: reading `\r\n` in two ways would double the work with every line.
_COMMENT_BELOW = re.compile(r"(?>[ \t\f]*(?>\r\n?|\n))++([ \t\f]+)#[^\r\n]*")


def py_outline(data: bytes) -> str:
    """One line for each class, function and variable, nested by two spaces. Raises as `read_source`."""
    source = read_source(data)
    return "\n".join(_outline_lines(source, source.tree.body))


def _outline_lines(source: PythonSource, body: list[ast.stmt], depth: int = 0) -> Iterator[str]:
    for node in statements(body):
        for kind, name in _kinds_and_names(node, in_class=depth > 0):
            yield f"{'  ' * depth}[{kind}] {name} {source.line_label(node)}"
        if isinstance(node, ast.ClassDef):
            yield from _outline_lines(source, node.body, depth + 1)


def _kinds_and_names(node: ast.stmt, *, in_class: bool) -> Iterator[tuple[str, str]]:
    """Kind and name of what a statement defines: several for `a = b = 1`, none for most statements."""
    if isinstance(node, ast.ClassDef):
        yield "Class", node.name
    elif isinstance(node, FUNCTION_NODES):
        kind = "Method" if in_class else "Function"
        yield f"Async {kind}" if isinstance(node, ast.AsyncFunctionDef) else kind, node.name
    for name in assigned_names(node):
        yield "Constant" if name.isupper() else "Variable", name


def py_skeleton(data: bytes) -> str:
    """The file with `...` for the bodies of functions, docstrings kept; it parses. Raises as `read_source`."""
    source = read_source(data)
    return "".join(cut_pieces(source.text, _skeleton_cuts(source, source.tree.body)))


def _skeleton_cuts(source: PythonSource, body: list[ast.stmt]) -> Iterator[Cut]:
    for node in definitions(body):
        yield from _body_cuts(source, node) if isinstance(node, FUNCTION_NODES) else _skeleton_cuts(source, node.body)


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
    if indent.strip(" \t\f") or source.text[header:row].strip(" \t\f\r\n").startswith("\\"):
        return start, source.end(node.body[-1]), "..."
    end = _LINE_END.search(source.text, header)
    return end.end() if end else row, _body_end(source, node, len(indent)), indent + "..."


def _body_end(source: PythonSource, node: FunctionNode, width: int) -> int:
    """The end of the body, with the rest of its last line and the comments below with its indentation."""
    found = _LINE_REST.match(source.text, source.end(node.body[-1]))
    end = found.end() if found else len(source.text)
    while (found := _COMMENT_BELOW.match(source.text, end)) and len(found.group(1)) >= width:
        end = found.end()
    return end


def py_class_summary(data: bytes, name: str) -> str:
    """The summary of a class. Raises: NotFound, BadInput if the name is not one class, and as `read_source`."""
    source = read_source(data)
    classes = [node for node in find_named(source.tree.body, name) if isinstance(node, ast.ClassDef)]
    if not classes:
        raise BadInput(f"'{name}' is a function, not a class")
    if len(classes) > 1:
        lines = ", ".join(str(source.line_span(node)[0]) for node in classes)
        raise BadInput(f"'{name}' is ambiguous: classes of this name are at lines {lines}")
    return "\n".join(_summary_lines(source, classes[0]))


def _summary_lines(source: PythonSource, node: ast.ClassDef) -> Iterator[str]:
    yield from _signature_lines(source, node, "")
    if doc := docstring_text(node):
        yield from ('"""', *doc.split("\n"), '"""')
    parts: dict[str, list[str]] = {"Variables": [], "Methods": [], "Classes": []}
    for each in statements(node.body):
        if isinstance(each, ast.ClassDef):
            parts["Classes"].append(f"  {source.signature(each)} {source.line_label(each)}")
        elif isinstance(each, FUNCTION_NODES):
            doc = docstring_text(each).partition("\n")[0]
            parts["Methods"] += [
                *_signature_lines(source, each, "  "),
                *([f"    {clip(doc, _MAX_LENGTH)}"] if doc else ()),
            ]
        elif any(assigned_names(each)):
            parts["Variables"].append(f"  {clip(source.node_line(each), _MAX_LENGTH)} {source.line_label(each)}")
    for title, lines in parts.items():
        if lines:
            yield from ("", f"{title}:", *lines)


def _signature_lines(source: PythonSource, node: DefinitionNode, indent: str) -> Iterator[str]:
    for each in node.decorator_list:
        yield f"{indent}@{clip(source.node_line(each), _MAX_LENGTH)}"
    yield f"{indent}{source.signature(node)} {source.line_label(node)}"


def py_docstring(data: bytes, name: str) -> str:
    """The docstring of the file (`module`) or a definition. Raises: NotFound, BadInput if it has several."""
    source = read_source(data)
    if name.strip() == MODULE:
        if doc := docstring_text(source.tree):
            return doc
        raise NotFound("the file has no docstring")
    owners = {text: node for node in find_named(source.tree.body, name) if (text := docstring_text(node))}
    if not owners:
        raise NotFound(f"'{name}' has no docstring")
    if len(owners) > 1:
        lines = ", ".join(str(source.line_span(node)[0]) for node in owners.values())
        raise BadInput(f"'{name}' is ambiguous: definitions with their own docstrings are at lines {lines}")
    return next(iter(owners))


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
    scopes = [("", source.tree.body), *((name, node.body) for name, node in all_definitions(source.tree.body))]
    found = [
        ImportStatement(
            line=source.line_of_row(node.lineno - 1), modules=module_names(node), text=ast.unparse(node), scope=scope
        )
        for scope, body in scopes
        for node in statements(body)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return tuple(sorted(found, key=lambda each: each.line))


def module_names(node: ast.Import | ast.ImportFrom) -> tuple[str, ...]:
    """The modules that a statement names."""
    if isinstance(node, ast.Import):
        return tuple(alias.name for alias in node.names)
    return ("." * node.level + (node.module or ""),)
