"""Expressions that can be resolved without running them: a name, then attributes and calls."""

import ast
import re
from typing import TypeAlias

Chain: TypeAlias = tuple[str, ...]
"""`a.b(c).d` is `("a", "b", "()", "d")`; empty if the expression cannot be resolved."""
CALL = "()"
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_DISPLAY_TYPES: dict[type[ast.expr], str] = {
    ast.JoinedStr: "str",
    ast.List: "list",
    ast.ListComp: "list",
    ast.Tuple: "tuple",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
}
_WRAPPERS = frozenset(("Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly"))
_TYPES = frozenset(("type", "Type"))


def chain(node: ast.expr | None) -> Chain:
    """The steps to the value of an expression."""
    steps: list[str] = []
    while node is not None:
        if isinstance(node, ast.Attribute):
            steps.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            steps.append(CALL)
            node = node.func
        elif isinstance(node, ast.Await | ast.NamedExpr):
            node = node.value
        else:
            return (*_root_steps(node), *reversed(steps)) if _root_steps(node) else ()
    return ()


def _root_steps(node: ast.expr) -> Chain:
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return (type(node.value).__name__, CALL)
    display = _DISPLAY_TYPES.get(type(node))
    return (display, CALL) if display else ()


def chain_text(steps: Chain) -> str:
    """A chain as code."""
    return ".".join(steps).replace(f".{CALL}", CALL)


def annotation_class(node: ast.expr | None) -> tuple[bool, Chain]:
    """The class that an annotation names, plain, quoted or in `X | None`, after whether it means the class itself."""
    while True:
        if isinstance(node, ast.BinOp):
            node = node.right if _is_none(node.left) else node.left
        elif isinstance(node, ast.Subscript):
            outer = chain(node.value)
            if not outer or outer[-1] not in _WRAPPERS | _TYPES:
                return False, outer
            inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
            if outer[-1] in _TYPES:
                return True, chain(inner)
            node = inner
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            return False, _quoted_class(node.value)
        else:
            return False, chain(node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _quoted_class(words: str) -> Chain:
    parts = [part.strip() for part in words.split("|")]
    named = [part for part in parts if part != "None"]
    return tuple(named[0].split(".")) if named and _DOTTED.fullmatch(named[0]) else ()
