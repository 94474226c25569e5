"""Facts about the names in a Python file, and what names resolve to: plain values that workers can send."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

from marid.syntax.python.resolve.chains import Chain

MODULE = ""
"""The key of the module scope."""


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


def _no_bindings() -> Mapping[str, Binding]:
    return {}


@dataclass(frozen=True, kw_only=True)
class ScopeFacts:
    """A module, a class or a function."""

    key: str
    """The dotted name; further definitions of one name end in `#` and a number."""
    kind: str
    line: int
    names: Mapping[str, Binding] = field(default_factory=_no_bindings)
    attributes: Mapping[str, Binding] = field(default_factory=_no_bindings)
    """Of a class: what its methods assign to `self`."""
    bases: tuple[Chain, ...] = ()
    signature: str = ""
    calls: tuple[CallSite, ...] = ()
    returns: Chain = ()
    is_property: bool = False

    @property
    def dotted_name(self) -> str:
        return dotted_name(self.key)


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
