"""The classes below a class, across the files of a tree."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from marid.core.errors import NotFound
from marid.syntax.calls_facts import MODULE, File, Kind, Scope, title
from marid.syntax.calls_modules import Modules
from marid.syntax.calls_resolving import Resolver
from marid.syntax.calls_target import by_module, defined_names
from marid.syntax.calls_things import Class, External
from marid.syntax.pyview_mentions import Mentions
from marid.syntax.pyview_scopes import suggestion
from marid.text.visible import shown_path

LoadAll = Callable[[Sequence[str]], Mapping[str, File]]
_CLASS = re.compile(rb"^[ \t]*class[ \t]+([^\W\d]\w*)", re.MULTILINE)
_LONGEST = 1000
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True, kw_only=True)
class Family:
    """The tree as lines, and how many classes are below the one that was asked for."""

    lines: tuple[str, ...]
    count: int


def hierarchy(files: Mapping[str, bytes], name: str, load_all: LoadAll) -> Family:
    """The subclasses, direct and indirect, of each class of this name; only files that may hold one are loaded.

    Raises:
        NotFound: neither is a class of this name defined, nor does any class name it as its base.
    """
    wanted = name.strip()
    if len(wanted) <= _LONGEST and _DOTTED.fullmatch(wanted):
        search = _Search(files, wanted, load_all)
        search.run()
        if search.tops or search.doubtful:
            return search.family()
    near = suggestion(wanted, defined_names(files, _CLASS))
    raise NotFound(f"no class '{wanted[:200]}' here, nor a class that derives from one{near}")


class _Search:
    """Round by round: files that name what is known, the subclasses in them, files that name those."""

    def __init__(self, files: Mapping[str, bytes], name: str, load_all: LoadAll) -> None:
        self.name = name
        self.load_all = load_all
        self.mentions = Mentions(files)
        self.facts: dict[str, File] = {}
        self.resolver = Resolver(Modules(files), self._load)
        self.tops: list[Class | External] = []
        self.known: set[Class | External] = set()
        self.below: dict[Class | External, list[Class]] = {}
        self.doubtful: list[Class] = []

    def _load(self, path: str) -> File | None:
        if path not in self.facts:
            self.facts.update(self.load_all([path]))
        return self.facts.get(path)

    def run(self) -> None:
        """Until a round finds nothing new."""
        last = self.name.rpartition(".")[2]
        names, new = {last}, {last}
        while new:
            self.facts.update(self.load_all(self.mentions.take(new)))
            if not self.tops:
                self._choose_tops()
            before, known = set(names), len(self.known)
            for path, file in sorted(self.facts.items()):
                self._read(path, file, names)
            new = names - before or (names if len(self.known) > known else set())
        self._sort()

    def _choose_tops(self) -> None:
        classes = [Class(path, key) for path, file in self.facts.items() for key in _classes(file)]
        exact = [each for each in classes if title(each.key) == self.name]
        if not exact and "." in self.name:
            found = by_module(self.resolver, self.name.split("."))
            exact = [found] if isinstance(found, Class) else []
        inner = [each for each in classes if title(each.key).endswith("." + self.name)]
        self.tops = sorted(exact or inner)
        self.known.update(self.tops)

    def _read(self, path: str, file: File, names: set[str]) -> None:
        """Find the classes of a file whose base is called like one that is known, and learn their names."""
        here = names | _aliases(file.scopes.values(), names)
        names |= _aliases([file.scopes[MODULE]], here)
        for key, scope in _classes(file).items():
            each = Class(path, key)
            alike = each not in self.known and any(base and base[-1] in here for base in scope.bases)
            if alike and self._derives(each, scope):
                self.known.add(each)
                names.add(scope.title.rpartition(".")[2])

    def _derives(self, each: Class, scope: Scope) -> bool:
        """Whether a base is known, or is called like what is looked for and leads out of the tree or nowhere."""
        last = self.name.rpartition(".")[2]
        bases = self.resolver.bases(each)
        outside = [base for base in bases if isinstance(base, External) and _is_called(base.name, self.name)]
        self.tops += [base for base in outside if base not in self.known]
        self.known.update(outside)
        if any(base is None and steps[-1:] == (last,) for steps, base in zip(scope.bases, bases, strict=True)):
            self.doubtful.append(each)
            return True
        return any(base in self.known for base in bases if base != each)

    def _sort(self) -> None:
        """Every known class below each of its known bases."""
        for each in sorted(each for each in self.known if isinstance(each, Class)):
            for base in dict.fromkeys(self.resolver.bases(each)):
                if base is not None and base in self.known and base != each:
                    self.below.setdefault(base, []).append(each)

    def family(self) -> Family:
        """The trees of all classes of the name, one after the other."""
        lines = [line for top in self.tops for line in self._lines(top)]
        if self.doubtful:
            lines.append(f"{self.name} (where it comes from is not known)")
            lines += [line for each in self.doubtful for line in self._lines(each, depth=1)]
        return Family(lines=tuple(lines), count=len(self.known - set(self.tops)))

    def _lines(self, top: Class | External, depth: int = 0) -> Iterator[str]:
        waiting: list[tuple[Class | External, int]] = [(top, depth)]
        seen: set[Class | External] = set()
        while waiting:
            each, depth = waiting.pop()
            below = sorted(self.below.get(each, []), key=lambda inner: (inner.path, self._line(inner)))
            again = " [shown elsewhere]" if each in seen and below else ""
            yield f"{'  ' * depth}{self._words(each)}{again}"
            if each not in seen:
                seen.add(each)
                waiting.extend((inner, depth + 1) for inner in reversed(below))

    def _line(self, each: Class) -> int:
        scope = self.resolver.scope(*each)
        return scope.line if scope else 1

    def _words(self, each: Class | External) -> str:
        if isinstance(each, External):
            return f"{each.name} (external)"
        scope = self.resolver.scope(*each)
        words = " ".join(scope.signature.split()) if scope else title(each.key)
        return f"{shown_path(each.path)}:{self._line(each)}: {words}"


def _classes(file: File) -> dict[str, Scope]:
    return {key: scope for key, scope in file.scopes.items() if scope.kind == "class"}


def _aliases(scopes: Iterable[Scope], names: set[str]) -> set[str]:
    """Other names for what is so called."""
    found: set[str] = set()
    for scope in scopes:
        for name, bound in scope.names.items():
            if bound.kind in (Kind.MEMBER, Kind.VALUE) and bound.chain and bound.chain[-1] in names:
                found.add(name)
    return found


def _is_called(full: str, name: str) -> bool:
    return full == name or full.endswith("." + name)
