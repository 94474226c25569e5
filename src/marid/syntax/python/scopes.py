"""The statements of a scope. Those in `if`, `try`, `with`, loops and `match` belong to the scope around them."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from marid.core.errors import NotFound
from marid.syntax.names import suggestion
from marid.syntax.python.source import DEFINITION_NODES, DefinitionNode

_HOLDERS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


class BlockStatement(NamedTuple):
    """A statement and the block that contains it."""

    node: ast.stmt
    block: list[ast.stmt]

    @property
    def position(self) -> int:
        return next(at for at, node in enumerate(self.block) if node is self.node)


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements directly in a node, in source order."""
    parts = [(part, "body") for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
    for holder, field in ((node, "body"), *parts, (node, "orelse"), (node, "finalbody")):
        block = getattr(holder, field, None)
        if isinstance(block, list):
            yield block


def block_statements(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
    """All statements of a scope with their blocks, each before those it contains; not those of inner scopes."""
    waiting = [(node, body) for node in reversed(body)]
    while waiting:
        found = waiting.pop()
        yield found
        if isinstance(found[0], _HOLDERS):
            waiting.extend([(node, block) for block in blocks(found[0]) for node in block][::-1])


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Like `block_statements`, without the blocks."""
    return (node for node, _ in block_statements(body))


def definitions(body: list[ast.stmt]) -> Iterator[DefinitionNode]:
    """The functions and classes of a scope."""
    return (node for node in statements(body) if isinstance(node, DEFINITION_NODES))


def all_definitions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, DefinitionNode]]:
    """All functions and classes of a file with dotted names, each before those inside it."""
    for node in definitions(body):
        yield prefix + node.name, node
        yield from all_definitions(node.body, f"{prefix}{node.name}.")


def find_named(body: list[ast.stmt], name: str) -> list[DefinitionNode]:
    """The definitions of a dotted name. Raises: NotFound; the message suggests similar names."""
    wanted = name.strip()
    known = list(all_definitions(body))
    if found := [node for each, node in known if each == wanted]:
        return found
    raise NotFound(f"no '{wanted[:200]}' in it{suggestion(wanted, (each for each, _ in known))}")


def assigned_names(node: ast.stmt) -> Iterator[str]:
    """The names that an assignment or a type alias declares; `+=` and `:=` declare none."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from target_names(target)
    elif isinstance(node, ast.AnnAssign):
        yield from target_names(node.target)
    elif type(node).__name__ == "TypeAlias":  # since Python 3.12
        yield from target_names(getattr(node, "name"))  # noqa: B009


def target_names(target: ast.expr) -> Iterator[str]:
    """The names in an assignment target, in order."""
    waiting = [target]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Tuple | ast.List):
            waiting.extend(reversed(each.elts))
        elif isinstance(each, ast.Starred):
            waiting.append(each.value)


def docstring_node(node: DefinitionNode | ast.Module) -> ast.Expr | None:
    """The statement that is the docstring, or None."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first
    return None


def docstring_text(owner: DefinitionNode | ast.Module) -> str:
    """The docstring without common indentation and trailing space; empty without one."""
    lines = (ast.get_docstring(owner) or "").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")
