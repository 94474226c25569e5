"""The statements of a scope. Those in `if`, `try`, `with`, loops and `match` belong to the scope around them."""

import ast
from collections.abc import Iterator, Sequence

from marid.core.errors import NotFound
from marid.syntax.names import suggestion
from marid.syntax.python.source import DEFINITION_NODES, DefinitionNode

_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a scope in source order, each before those it contains; not those of inner scopes."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, DEFINITION_NODES):
            waiting.extend(reversed([inner for field in _BLOCKS for inner in getattr(node, field, ())]))


def definitions(body: Sequence[ast.stmt]) -> Iterator[DefinitionNode]:
    """The functions and classes of a scope."""
    return (node for node in statements(body) if isinstance(node, DEFINITION_NODES))


def all_definitions(body: Sequence[ast.stmt]) -> Iterator[tuple[str, DefinitionNode]]:
    """All functions and classes of a file with dotted names, each before those inside it."""
    waiting = [(node.name, node) for node in definitions(body)][::-1]
    while waiting:
        name, node = waiting.pop()
        yield name, node
        waiting.extend([(f"{name}.{inner.name}", inner) for inner in definitions(node.body)][::-1])


def find_named(body: Sequence[ast.stmt], name: str) -> list[DefinitionNode]:
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


def is_constant(name: str) -> bool:
    """Whether a name is written like a constant."""
    return name.isupper()


def docstring_node(node: DefinitionNode | ast.Module) -> ast.Expr | None:
    """The statement that is the docstring, or None."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first
    return None


def docstring_text(owner: DefinitionNode | ast.Module) -> str:
    """The docstring without common indentation and blank lines around it; empty without one."""
    statement = docstring_node(owner)
    if statement is None or not isinstance(statement.value, ast.Constant):
        return ""
    first, *rest = str(statement.value.value).expandtabs().split("\n")
    common = min((len(line) - len(line.lstrip(" \t")) for line in rest if line.strip()), default=0)
    return "\n".join([first.strip(), *(line[common:].rstrip() for line in rest)]).strip("\n").rstrip()
