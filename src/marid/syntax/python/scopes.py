"""The statements of a scope: what stands in `if`, `try`, `with`, loops and `match` belongs to what surrounds them."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from marid.core.errors import NotFound

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
DefinitionNode: TypeAlias = FunctionNode | ast.ClassDef
FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITION_NODES = (*FUNCTION_NODES, ast.ClassDef)
_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a scope in source order, none of the scopes in it; a block comes before what it holds."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, DEFINITION_NODES):
            waiting.extend(reversed(list(_block_nodes(node))))


def _block_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for field in _BLOCKS:
        yield from getattr(node, field, ())


def definitions(body: Sequence[ast.stmt]) -> Iterator[DefinitionNode]:
    """The functions and classes of a scope."""
    return (node for node in statements(body) if isinstance(node, DEFINITION_NODES))


def all_definitions(body: Sequence[ast.stmt]) -> Iterator[tuple[str, DefinitionNode]]:
    """All functions and classes of a file by dotted name, those inside functions too, each before what is in it."""
    waiting = [(node.name, node) for node in definitions(body)][::-1]
    while waiting:
        name, node = waiting.pop()
        yield name, node
        waiting.extend([(f"{name}.{inner.name}", inner) for inner in definitions(node.body)][::-1])


def find_named(body: Sequence[ast.stmt], name: str) -> list[DefinitionNode]:
    """The definitions of a dotted name; several if it is defined more than once.

    Raises:
        NotFound: there is none; the message suggests names that look like it.
    """
    wanted = name.strip()
    known = list(all_definitions(body))
    if found := [node for each, node in known if each == wanted]:
        return found
    raise NotFound(f"no '{wanted[:200]}' in it{suggestion(wanted, (each for each, _ in known))}")


def suggestion(wanted: str, known: Iterable[str], sign: str = ".") -> str:
    """Names like the wanted one, as the end of a message; those that end in its last part first, whatever is before."""
    from difflib import get_close_matches  # imported when used: only a wrong name needs it

    every = list(dict.fromkeys(known))
    last = wanted.rpartition(sign)[2][:200]
    same = [name for name in every if name.rpartition(sign)[2] == last]
    near = list(dict.fromkeys([*same[:5], *get_close_matches(wanted[:200], every[:5000], n=3)]))
    return f"; did you mean {', '.join(near[:5])}?" if near else ""


def docstring_node(node: DefinitionNode | ast.Module) -> ast.Expr | None:
    """The statement that is the docstring."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first
    return None
