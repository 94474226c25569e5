"""Find the function that a caller names, as `path.py::Class.method` or by dotted name."""

import re
from collections.abc import Mapping

from marid.core.errors import BadInput, NotFound
from marid.syntax.names import suggestion
from marid.syntax.python.resolve.facts import MODULE, Class, Entity, Function, Module, dotted_name
from marid.syntax.python.resolve.resolver import Resolver
from marid.text.display import join_limited, quote_path

_MAX_SHOWN = 10
_MAX_NAME_LENGTH = 1000
_MAX_SEARCHED_BYTES = 16 << 20
_DEFINITION = re.compile(rb"\b(?:def|class)[ \t]+([^\W\d]\w*)")


def find_target(resolver: Resolver, files: Mapping[str, bytes], target: str) -> Entity:
    """The function, class or module that the target names. Raises: BadInput if it is not one name, NotFound."""
    path, sign, name = target.strip().partition("::")
    if sign or path.endswith((".py", ".pyw", ".pyi")):
        return _find_in_file(resolver, _find_file(files, path.strip()), name.strip())
    if not path or len(path) > _MAX_NAME_LENGTH:
        raise BadInput("not a target: use 'path.py::Class.method' or a dotted name")
    parts = path.split(".")
    found = find_by_module(resolver, parts) or _find_anywhere(resolver, files, path)
    if found:
        return found
    if places := resolver.modules.candidates(parts):
        return _find_in_file(resolver, resolver.modules.file_path(places[0]) or "", "")
    known = [*_sibling_names(resolver, files, parts), *defined_names(files, _DEFINITION)]
    near = suggestion(".".join(parts[-2:])[:200], known)
    raise NotFound(f"no function or class '{path[:200]}' in the folder{near}")


def _find_file(files: Mapping[str, bytes], given: str) -> str:
    """The file with this path or path ending."""
    wanted = given.replace("\\", "/").removeprefix("./")
    if wanted in files:
        return wanted
    ending = [path for path in files if path.endswith("/" + wanted)]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise BadInput(f"'{quote_path(given)}' is ambiguous: {join_limited([*map(quote_path, ending)], _MAX_SHOWN)}")
    near = suggestion(wanted, files, "/")
    raise NotFound(f"no Python file '{quote_path(given[:200])}' in the folder{near}")


def _find_in_file(resolver: Resolver, path: str, name: str) -> Entity:
    file = resolver.file(path)
    if file is None:
        raise BadInput(f"'{quote_path(path)}' does not parse: py_check_syntax shows where")
    if not name:
        return Function(path, MODULE)
    keys = [key for key in file.scopes if key and dotted_name(key) == name]
    if len(keys) > 1:  # the one that the name is bound to in the end
        arounds = [(key, file.scopes.get(key.rpartition(".")[0])) for key in keys]
        keys = [key for key, around in arounds if around and any(b.chain == (key,) for b in around.names.values())]
    if not keys:
        known = [dotted_name(key) for key in file.scopes if key]
        raise NotFound(f"no '{name[:200]}' in '{quote_path(path)}'{suggestion(name, known)}")
    return _make_entity(resolver, path, keys[0])


def _make_entity(resolver: Resolver, path: str, key: str) -> Entity:
    scope, owner = resolver.scope(path, key), key.rpartition(".")[0]
    if scope and scope.kind == "class":
        return Class(path, key)
    around = resolver.scope(path, owner)
    return Function(path, key, Class(path, owner) if around and around.kind == "class" else None)


def find_by_module(resolver: Resolver, parts: list[str]) -> Class | Function | None:
    """Resolve the longest prefix that is a module, then its members, re-exported ones included."""
    for count in range(len(parts) - 1, 0, -1):
        for place in resolver.modules.candidates(parts[:count]):
            thing: Entity | None = Module(place)
            for part in parts[count:]:
                thing = resolver.attribute(thing, part) if thing else None
            if isinstance(thing, Class | Function):
                return thing
    return None


def _find_anywhere(resolver: Resolver, files: Mapping[str, bytes], name: str) -> Entity | None:
    """Find a name without its module; reads only files that define its last part and contain the others."""
    *others, last = (part.encode() for part in name.split("."))
    wanted = re.compile(rb"\b(?:def|class)[ \t]+" + re.escape(last) + rb"\b")
    found: list[tuple[str, str]] = []
    for path, data in files.items():
        if not all(part in data for part in (last, *others)) or not wanted.search(data):
            continue
        if file := resolver.file(path):
            found += [
                (path, key) for key in file.scopes if dotted_name(key) == name or dotted_name(key).endswith("." + name)
            ]
    exact = [(path, key) for path, key in found if dotted_name(key) == name and "#" not in key] or found
    if len(exact) == 1:
        return _make_entity(resolver, *exact[0])
    if exact:
        choices = [quote_path(f"{path}::{dotted_name(key)}") for path, key in exact]
        raise BadInput(f"'{name}' is ambiguous: {join_limited(choices, _MAX_SHOWN)}")
    return None


def _sibling_names(resolver: Resolver, files: Mapping[str, bytes], parts: list[str]) -> list[str]:
    """The names in the file of the class that a dotted name probably means, for suggestions."""
    if len(parts) == 1:
        return []
    owner = re.compile(rb"\bclass[ \t]+" + re.escape(parts[-2].encode()) + rb"\b")
    path = next((path for path, data in files.items() if owner.search(data)), None)
    file = resolver.file(path) if path else None
    return [dotted_name(key) for key in file.scopes if key] if file else []


def defined_names(files: Mapping[str, bytes], pattern: "re.Pattern[bytes]") -> list[str]:
    """What the files seem to define, for suggestions; stops after `_MAX_SEARCHED_BYTES`."""
    known: set[bytes] = set()
    left = _MAX_SEARCHED_BYTES
    for data in files.values():
        known.update(pattern.findall(data))
        left -= len(data)
        if left < 0:
            break
    return sorted(each.decode("utf-8", "replace") for each in known)
