"""Resolve names through scopes, imports and classes, as far as possible without running code."""

import builtins
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from posixpath import dirname, join
from typing import TypeAlias

from marid.core.errors import Exhausted
from marid.syntax.python.resolve.facts import (
    CALL,
    MODULE,
    Binding,
    BindingKind,
    Chain,
    Class,
    Entity,
    External,
    FileFacts,
    Function,
    Instance,
    Module,
    ScopeFacts,
    SuperProxy,
)

_SUFFIXES = (".py", "/__init__.py", ".pyi", "/__init__.pyi", ".pyw")
_PACKAGE = "__init__"
MAX_STEPS = 1_000_000
_MAX_DEPTH = 40
_MAX_BASES = 300
# Annotations that do not determine the methods of an object.
_UNINFORMATIVE_TYPES = frozenset(("Any", "Callable", "Self", "TypeVar", "object"))
LoadFacts: TypeAlias = Callable[[str], FileFacts | None]
Base: TypeAlias = Class | External | None


class ModuleIndex:
    """The modules of a tree by location, the path without suffix: `src/shop` is a package or `src/shop.py`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files = frozenset(paths)
        self._folders = frozenset(folder for path in self._files for folder in _parent_folders(path))
        self._top_level: dict[str, list[str]] = {}
        for place in sorted({*(_module_location(path) for path in self._files), *self._folders}):
            folder, _, name = place.rpartition("/")
            if name and not self._is_package(folder):
                self._top_level.setdefault(name, []).append(place)

    def file_path(self, location: str) -> str | None:
        """The path of the module at a location; None for a folder without `__init__`."""
        return next((location + ending for ending in _SUFFIXES if location + ending in self._files), None)

    def exists(self, location: str) -> bool:
        """Whether the location is a module or a folder of modules."""
        return location in self._folders or self.file_path(location) is not None

    def submodule(self, location: str, name: str) -> str | None:
        """The module of this name inside a package."""
        inner = join(location, name)
        return inner if location in self._folders and self.exists(inner) else None

    def find(self, importer: str, module: str, level: int) -> str | None:
        """The location that an import in the file `importer` means; None if it is not in the tree."""
        parts = module.split(".") if module else []
        if level:
            folder = dirname(importer)
            for _ in range(level - 1):
                folder = dirname(folder)
            place = join(folder, *parts)
            return place if self.exists(place) else None
        return next((place for place in self._absolute_candidates(importer, parts) if self.exists(place)), None)

    def candidates(self, dotted: Iterable[str]) -> list[str]:
        """Every location that a dotted name can mean in any file."""
        first, *rest = dotted
        places = [join(top, *rest) for top in self._top_level.get(first, ())]
        return [place for place in places if self.file_path(place)]

    def _absolute_candidates(self, importer: str, parts: list[str]) -> Iterator[str]:
        """In the importer's folders, nearest first, then anywhere, unless the standard library has the module."""
        if not parts:
            return
        for folder in (*_parent_folders(importer), ""):
            if not self._is_package(folder) and self.exists(join(folder, parts[0])):
                yield join(folder, *parts)
        if parts[0] not in sys.stdlib_module_names:
            tops = self._top_level.get(parts[0], ())
            yield from (join(top, *parts[1:]) for top in sorted(tops, key=lambda top: (top.count("/"), top)))

    def _is_package(self, folder: str) -> bool:
        """The top of the tree is not a package: otherwise its modules would have no names."""
        return bool(folder) and any(join(folder, _PACKAGE + ending) in self._files for ending in (".py", ".pyi"))


def _parent_folders(path: str) -> Iterator[str]:
    while path := dirname(path):
        yield path


def _module_location(path: str) -> str:
    """The location of a file; that of a package is its folder."""
    stem = path.rpartition(".")[0]
    return dirname(path) if stem.rpartition("/")[2] == _PACKAGE else stem


class Resolver:
    """Loads files when a name leads to them; `load` returns None for a file that cannot be read."""

    def __init__(self, modules: ModuleIndex, load: LoadFacts, steps: int = MAX_STEPS) -> None:
        self.modules = modules
        self.file: LoadFacts = cache(load)
        self.mro: Callable[[Class], tuple[Base, ...]] = cache(self._find_mro)
        self.bases: Callable[[Class], tuple[Base, ...]] = cache(self._find_bases)
        self._star_import_files: Callable[[str], tuple[str, ...]] = cache(self._find_star_imports)
        self._resolved: dict[tuple[Function, Chain], Entity | None] = {}
        self._in_progress: set[tuple[object, ...]] = set()
        self._cycles = 0
        self._steps_left = steps

    def scope(self, path: str, key: str) -> ScopeFacts | None:
        file = self.file(path)
        return file.scopes.get(key) if file else None

    def follow(self, at: Function, steps: Chain) -> Entity | None:
        """Resolve a chain in a scope; `at` also has the class it runs for. None if it is unknown. Raises: Exhausted."""
        task = (at, steps)
        if task in self._resolved:
            return self._resolved[task]
        self._steps_left -= 1
        if self._steps_left < 0:
            raise Exhausted("the names in these files are too entangled to resolve")
        if not steps or not self._enter(task):
            return None
        cycles = self._cycles
        try:
            thing = self._follow(at, steps)
        finally:
            self._in_progress.discard(task)
        if cycles == self._cycles:  # a cycle cut this short, so another path may give more
            self._resolved[task] = thing
        return thing

    def _enter(self, task: tuple[object, ...]) -> bool:
        """Start a task; False if it is a cycle or too deep."""
        if task in self._in_progress or len(self._in_progress) > _MAX_DEPTH:
            self._cycles += 1
            return False
        self._in_progress.add(task)
        return True

    def _follow(self, at: Function, steps: Chain) -> Entity | None:
        parent = self._super_proxy(at) if steps[:2] == ("super", CALL) else None
        thing, rest = (parent, steps[2:]) if parent else (self.look_up(at, steps[0]), steps[1:])
        for step in rest:
            if thing is None:
                return None
            thing = self.call_result(thing) if step == CALL else self.attribute(thing, step)
        return thing

    def look_up(self, at: Function, name: str) -> Entity | None:
        """Resolve a name in a scope: its own names, those of enclosing functions, the module's, builtins."""
        key = at.key
        while key:
            scope = self.scope(at.path, key)
            if scope and (key == at.key or scope.kind == "function") and name in scope.names:
                return self._resolve_binding(at, scope.names[name])
            key = key.rpartition(".")[0]
        file = self.file(at.path)
        if file and (thing := self._file_member(at.path, file, name)) is not None:
            return thing
        known = bool(file) and name in file.scopes[MODULE].names
        return External(name) if hasattr(builtins, name) and not known else None

    def member(self, module: Module, name: str) -> Entity | None:
        """The value of `from module import name`: a name of its file, also a re-exported one, or a submodule."""
        task = (module, name)
        if not self._enter(task):
            return None
        try:
            path = self.modules.file_path(module.location)
            file = self.file(path) if path else None
            if path and file and (thing := self._file_member(path, file, name)) is not None:
                return thing
        finally:
            self._in_progress.discard(task)
        below = self.modules.submodule(module.location, name)
        return Module(below) if below else None

    def _file_member(self, path: str, file: FileFacts, name: str) -> Entity | None:
        bound = file.scopes[MODULE].names.get(name)
        if bound is not None:
            return self._resolve_binding(Function(path, MODULE), bound)
        for other in () if name.startswith("_") else self._star_import_files(path):
            scope = self.scope(other, MODULE)
            if scope and name in scope.names:
                return self._resolve_binding(Function(other, MODULE), scope.names[name])
        return None

    def _find_star_imports(self, path: str) -> tuple[str, ...]:
        """The files whose names a file gets by star imports, directly or indirectly."""
        found = [path]
        for each in found:
            file = self.file(each)
            for module, level in file.star_imports if file else ():
                place = self.modules.find(each, module, level)
                other = self.modules.file_path(place) if place else None
                if other and other not in found:
                    found.append(other)
        return tuple(found[1:])

    def _resolve_binding(self, at: Function, bound: Binding) -> Entity | None:
        match bound.kind:
            case BindingKind.DEFINITION:
                return self._resolve_definition(at, bound)
            case BindingKind.MODULE:
                place = self.modules.find(at.path, bound.module, 0)
                return Module(place) if place else External(bound.module)
            case BindingKind.MEMBER:
                place = self.modules.find(at.path, bound.module, bound.level)
                dotted = f"{'.' * bound.level}{bound.module}.{bound.chain[0]}"
                return self.member(Module(place), bound.chain[0]) if place is not None else External(dotted)
            case BindingKind.SELF | BindingKind.CLS:
                receiver = at.receiver or Class(at.path, bound.scope.rpartition(".")[0])
                return Instance(receiver) if bound.kind is BindingKind.SELF else receiver
            case BindingKind.VALUE | BindingKind.INSTANCE | BindingKind.UNKNOWN:
                found = self.follow(at._replace(key=bound.scope), bound.chain)
                return found if bound.kind is BindingKind.VALUE else self._instance_of(found, at)

    def _resolve_definition(self, at: Function, bound: Binding) -> Entity | None:
        """Methods, and functions inside them, keep their receiver."""
        key = bound.chain[0]
        scope = self.scope(at.path, key)
        if scope is None:
            return None
        if scope.kind == "class":
            return Class(at.path, key)
        return Function(at.path, key, at.receiver if bound.scope else None)

    def _instance_of(self, thing: Entity | None, at: Function) -> Entity | None:
        """An instance of the class that an annotation names."""
        if isinstance(thing, Class):
            return Instance(thing)
        if not isinstance(thing, External):
            return None
        word = thing.name.rpartition(".")[2]
        if word == "Self" and at.receiver:
            return Instance(at.receiver)
        return None if word in _UNINFORMATIVE_TYPES else thing

    def call_result(self, thing: Entity) -> Entity | None:
        """The result of a call: an instance of a class, or the annotated result of a function."""
        match thing:
            case Class():
                return Instance(thing)
            case External():
                return External(thing.name + CALL)
            case Function():
                scope = self.scope(thing.path, thing.key)
                within = thing._replace(key=thing.key.rpartition(".")[0])
                return self._instance_of(self.follow(within, scope.returns), thing) if scope else None
            case Instance():
                method = self.attribute(thing, "__call__")
                return self.call_result(method) if isinstance(method, Function) else None
            case Module() | SuperProxy():
                return None

    def attribute(self, thing: Entity, name: str) -> Entity | None:
        """The value of `thing.name`."""
        match thing:
            case Module():
                return self.member(thing, name)
            case External():
                return External(f"{thing.name}.{name}")
            case Class():
                return self._find_inherited(thing, self.mro(thing), name)
            case Instance():
                found = self._find_inherited(thing.class_, self.mro(thing.class_), name)
                return self._unwrap_property(found)
            case SuperProxy():
                order = self.mro(thing.receiver)
                if thing.defining_class not in order:
                    order = self.mro(thing.defining_class)
                rest = order[order.index(thing.defining_class) + 1 :]
                return self._unwrap_property(self._find_inherited(thing.receiver, rest, name))
            case Function():
                return None

    def _unwrap_property(self, found: Entity | None) -> Entity | None:
        """The result of a property, or anything else as it is."""
        scope = self.scope(found.path, found.key) if isinstance(found, Function) else None
        return self.call_result(found) if found and scope and scope.is_property else found

    def _find_inherited(self, receiver: Class, order: tuple[Base, ...], name: str) -> Entity | None:
        """The attribute of the first class that has it; an external class may have any attribute."""
        for each in order:
            if each is None:
                return None
            if isinstance(each, External):
                return External(f"{each.name}.{name}")
            scope = self.scope(each.path, each.key)
            bound = scope and (scope.names.get(name) or scope.attributes.get(name))
            if bound:
                return self._resolve_binding(Function(each.path, bound.scope, receiver), bound)
        return External(f"object.{name}") if hasattr(object, name) else None

    def _find_mro(self, of: Class) -> tuple[Base, ...]:
        """The class, then its bases in the order of Python's look-up; None for an unknown one."""
        every: list[Base] = []
        waiting: list[Base] = [of]
        while waiting and len(every) < _MAX_BASES:  # broken code may define cyclic bases
            each = waiting.pop()
            every.append(each)
            waiting += reversed(self.bases(each)) if isinstance(each, Class) else ()
        last = {each: at for at, each in enumerate(every)}
        return tuple(sorted(last, key=lambda each: last[each]))

    def _find_bases(self, of: Class) -> tuple[Base, ...]:
        """The bases of a class, resolved in the scope around it; None for an unknown one."""
        scope = self.scope(of.path, of.key)
        around = Function(of.path, of.key.rpartition(".")[0])
        found = [self.follow(around, base) for base in scope.bases] if scope else []
        return tuple(each if isinstance(each, Class | External) else None for each in found)

    def _super_proxy(self, at: Function) -> SuperProxy | None:
        """`super()` in a method, or in a function inside one."""
        key = at.key
        while key:
            owner, _, _ = key.rpartition(".")
            scope = self.scope(at.path, owner) if owner else None
            if scope and scope.kind == "class":
                after = Class(at.path, owner)
                return SuperProxy(at.receiver or after, after)
            key = owner
        return None
