"""Facts about the names in a Python file, and what names resolve to: plain values that workers can send."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

Chain: TypeAlias = tuple[str, ...]
"""`a.b(c).d` is `("a", "b", "()", "d")`; empty if the expression cannot be resolved."""
CALL = "()"
MODULE = ""
"""The key of the module scope."""
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
# The types that displays and comprehensions make, by the names of their nodes without `Comp`.
_DISPLAY_TYPES = {"JoinedStr": "str", "List": "list", "Tuple": "tuple", "Dict": "dict", "Set": "set"}
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
    display = _DISPLAY_TYPES.get(type(node).__name__.removesuffix("Comp"))
    return (display, CALL) if display else ()


def chain_text(steps: Chain) -> str:
    """A chain as code."""
    return ".".join(steps).replace(f".{CALL}", CALL)


def annotation_class(node: ast.expr | None) -> tuple[bool, Chain]:
    """The class that an annotation names, plain, quoted or in `X | None`, after whether it means the class itself."""
    while True:
        if isinstance(node, ast.BinOp):
            node = node.right if is_none(node.left) else node.left
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


def is_none(node: ast.expr) -> bool:
    """Whether an expression is `None`."""
    return isinstance(node, ast.Constant) and node.value is None


def _quoted_class(words: str) -> Chain:
    parts = [part.strip() for part in words.split("|")]
    named = [part for part in parts if part != "None"]
    return tuple(named[0].split(".")) if named and _DOTTED.fullmatch(named[0]) else ()


class BindingKind(Enum):
    """What kind of thing a name is bound to."""

    DEFINITION = "definition"
    MODULE = "module"
    MEMBER = "member"
    VALUE = "value"
    INSTANCE = "instance"
    SELF = "self"
    CLS = "cls"
    UNKNOWN = "unknown"


class Binding(NamedTuple):
    """What a name is bound to; `chain` is resolved in the scope with key `scope`."""

    kind: BindingKind
    chain: Chain = ()
    """The key of a definition, the name of a member, or the steps to a value or to the class of an instance."""
    scope: str = MODULE
    module: str = ""
    level: int = 0
    """The number of dots before the module of an import."""


class CallSite(NamedTuple):
    """A call: the steps to the callee, or its text if they cannot be resolved."""

    chain: Chain
    text: str
    line: int


@dataclass(frozen=True, kw_only=True)
class ScopeFacts:
    """A module, a class or a function."""

    key: str
    """The dotted name; further definitions of one name end in `#` and a number."""
    kind: str
    line: int
    names: Mapping[str, Binding] = field(default_factory=dict[str, Binding])
    attributes: Mapping[str, Binding] = field(default_factory=dict[str, Binding])
    """Of a class: what its methods assign to `self`."""
    bases: tuple[Chain, ...] = ()
    signature: str = ""
    calls: tuple[CallSite, ...] = ()
    returns: Chain = ()
    is_property: bool = False


def dotted_name(key: str) -> str:
    """The dotted name of a key."""
    return ".".join(part.partition("#")[0] for part in key.split("."))


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """All scopes of a file by key, and the modules of its star imports with their numbers of dots."""

    scopes: Mapping[str, ScopeFacts]
    star_imports: tuple[tuple[str, int], ...] = ()


class Module(NamedTuple):
    """A module or package of the tree: its path without suffix."""

    location: str


class Class(NamedTuple):
    """A class of the tree."""

    path: str
    key: str


class Instance(NamedTuple):
    """An instance of a class of the tree."""

    class_: Class


class Function(NamedTuple):
    """A function of the tree; `receiver` is the class that a method is called through."""

    path: str
    key: str
    receiver: Class | None = None


class SuperProxy(NamedTuple):
    """The value of `super()` in a method of `defining_class`, for an instance of `receiver`."""

    receiver: Class
    defining_class: Class


class External(NamedTuple):
    """Something from a library or a builtin, or the result of its calls and attributes, by dotted name."""

    name: str


Entity: TypeAlias = Module | Class | Instance | Function | SuperProxy | External
