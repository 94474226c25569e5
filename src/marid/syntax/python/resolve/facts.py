"""What one Python file says about its names, and what names resolve to: plain values that workers can send."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

from marid.syntax.python.resolve.chains import Chain

MODULE = ""
"""The key of the scope that is the whole file."""


class BindingKind(Enum):
    """What a name stands for."""

    DEFINITION = "definition"
    MODULE = "module"
    MEMBER = "member"
    VALUE = "value"
    INSTANCE = "instance"
    SELF = "self"
    CLS = "cls"
    UNKNOWN = "unknown"


class Binding(NamedTuple):
    """What a name is bound to; `chain` is to be followed in the scope of key `scope`."""

    kind: BindingKind
    chain: Chain = ()
    """The key of a definition, the name of a member, the steps to a value, or to the class of an instance."""
    scope: str = MODULE
    module: str = ""
    level: int = 0
    """How many dots stand before the module of an import."""


class CallSite(NamedTuple):
    """A call: the steps to what is called, or its text where they cannot be followed."""

    chain: Chain
    text: str
    line: int


def _no_bindings() -> Mapping[str, Binding]:
    return {}


@dataclass(frozen=True, kw_only=True)
class ScopeFacts:
    """A module, a class or a function."""

    key: str
    """The dotted name; a second definition of one name has `#` and a number behind it."""
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
        """The dotted name as in the file."""
        return dotted_name(self.key)


def dotted_name(key: str) -> str:
    """The dotted name that a key stands for."""
    return ".".join(part.partition("#")[0] for part in key.split("."))


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """All scopes of a file by key, and the modules of its `import *`, each with its number of dots."""

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
    """An object of a class of the tree."""

    class_: Class


class Function(NamedTuple):
    """A function of the tree; `receiver` is the class that a method is called through."""

    path: str
    key: str
    receiver: Class | None = None


class SuperProxy(NamedTuple):
    """What `super()` gives in a method of `defining_class`, for an object of class `receiver`."""

    receiver: Class
    defining_class: Class


class External(NamedTuple):
    """Something of a library or a builtin, by dotted name, or what its calls and attributes give."""

    name: str


Entity: TypeAlias = Module | Class | Instance | Function | SuperProxy | External
