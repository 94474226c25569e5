"""What an expression can come to."""

from typing import NamedTuple, TypeAlias


class Module(NamedTuple):
    """A module or package of the tree: its path without ending."""

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
    """What `super()` gives in a method of class `after`, for an object of class `receiver`."""

    receiver: Class
    defining_class: Class


class External(NamedTuple):
    """Something of a library or a builtin, by dotted name, or what its calls and attributes give."""

    name: str


Entity: TypeAlias = Module | Class | Instance | Function | SuperProxy | External
