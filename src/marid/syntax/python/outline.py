"""The outline of a Python file: what is defined outside function bodies, each with its lines."""

import ast
from collections.abc import Iterator

from marid.syntax.python.scopes import FUNCTION_NODES, DefinitionNode, statements
from marid.syntax.python.source import PythonSource, read_source


def py_outline(data: bytes) -> str:
    """One line for each class, function and variable, nested by two spaces; empty when nothing is defined.

    Raises:
        BadInput: the file does not parse.
        Exhausted: it is nested too deeply.
    """
    return "\n".join(_outline_lines(read_source(data)))


def _outline_lines(source: PythonSource) -> Iterator[str]:
    waiting: list[tuple[int, bool, Iterator[ast.stmt]]] = [(0, False, statements(source.tree.body))]
    while waiting:
        depth, in_class, rest = waiting[-1]
        for node in rest:
            start, end = source.line_span(node)
            for kind, name in kinds_and_names(node, in_class=in_class):
                yield f"{'  ' * depth}[{kind}] {name} (Lines {start}-{end})"
            if isinstance(node, ast.ClassDef):
                waiting.append((depth + 1, True, statements(node.body)))
                break
        else:
            waiting.pop()


def kinds_and_names(node: ast.stmt, *, in_class: bool) -> Iterator[tuple[str, str]]:
    """Kind and name of what a statement defines: several for `a = b = 1`, none for most statements."""
    if isinstance(node, (*FUNCTION_NODES, ast.ClassDef)):
        yield _kind(node, in_class=in_class), node.name
    else:
        for name in assigned_names(node):
            yield "Constant" if is_constant(name) else "Variable", name


def _kind(node: DefinitionNode, *, in_class: bool) -> str:
    if isinstance(node, ast.ClassDef):
        return "Class"
    kind = "Method" if in_class else "Function"
    return f"Async {kind}" if isinstance(node, ast.AsyncFunctionDef) else kind


def is_constant(name: str) -> bool:
    """Whether a name is written the way constants are."""
    return name.isupper()


def assigned_names(node: ast.stmt) -> Iterator[str]:
    """The plain names that a statement assigns, a type alias among them."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    elif type(node).__name__ == "TypeAlias":  # Python 3.12
        targets: list[ast.expr] = [getattr(node, "name")]  # noqa: B009
    else:
        return
    for target in targets:
        yield from target_names(target)


def target_names(target: ast.expr) -> Iterator[str]:
    """The names in the target of an assignment, in order."""
    waiting = [target]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Tuple | ast.List):
            waiting.extend(reversed(each.elts))
        elif isinstance(each, ast.Starred):
            waiting.append(each.value)
