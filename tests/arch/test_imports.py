"""How modules import each other, imports inside functions counted too: import-linter does not see all of this."""

import ast
from pathlib import Path

from arch.source import BY_NAME, MODULES, dotted_name, functions, parse, read

# In-package imports inside functions per 1,000 lines.
MOST_INNER = 1.5


def _targets(node: ast.AST) -> set[str]:
    match node:
        case ast.ImportFrom(module=str(module)):
            names = {f"{module}.{alias.name}" for alias in node.names}
            return {name if name in BY_NAME else module for name in names} & BY_NAME.keys()
        case ast.Import():
            return {alias.name for alias in node.names} & BY_NAME.keys()
        case _:
            return set()


def _for_types_only(tree: ast.Module) -> set[ast.AST]:
    return {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }


def _imported(path: Path) -> set[str]:
    tree = parse(path)
    unused = _for_types_only(tree)
    return {target for node in ast.walk(tree) if node not in unused for target in _targets(node)}


def test_no_module_is_in_a_cycle_whatever_is_imported_where() -> None:
    graph = {name: _imported(path) - {name} for name, path in BY_NAME.items()}
    while leaves := {name for name, targets in graph.items() if not targets & graph.keys()}:
        graph = {name: targets for name, targets in graph.items() if name not in leaves}
    assert graph.keys() == set(), f"in a cycle, or above one: {sorted(graph)}"


def test_imports_stand_at_the_top() -> None:
    """Inside a function only what keeps a heavy library from a start that does not need it."""
    lines = sum(read(path).count("\n") for path in MODULES)
    inner = {
        f"{dotted_name(path)}:{node.lineno}"
        for path in MODULES
        for function in functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom) and _targets(node)
    }
    assert len(inner) / lines * 1000 <= MOST_INNER
