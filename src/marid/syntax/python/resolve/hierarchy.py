"""The subclasses of a class across the files of a tree."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from marid.core.errors import NotFound
from marid.syntax.names import suggestion
from marid.syntax.python.resolve.facts import MODULE, BindingKind, Class, External, FileFacts, ScopeFacts, dotted_name
from marid.syntax.python.resolve.resolver import ModuleIndex, Resolver
from marid.syntax.python.resolve.target import defined_names, find_by_module
from marid.text.display import quote_path

LoadAll = Callable[[Sequence[str]], Mapping[str, FileFacts]]
_CLASS = re.compile(rb"^[ \t]*class[ \t]+([^\W\d]\w*)", re.MULTILINE)
_MAX_NAME_LENGTH = 1000
# Searching for a few words one by one is faster than finding all words.
_FEW_NAMES = 4
_WORDS = re.compile(rb"[\w\x80-\xff]+")
# Class headers, imports and plain aliases. More may match, never less.
_NAMING_STATEMENTS = re.compile(
    rb"^[ \t]*+(?:class\b[^:]*+|(?:from|import)\b(?:[^(\\\n]*+\([^)]*+|(?:[^\\\n]|\\\r?\n|\\.)*+)"
    rb"|[\w\x80-\xff]++[ \t]*+=[ \t]*+[\w.\x80-\xff]++[ \t]*+\r?$)",
    re.MULTILINE,
)
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True, kw_only=True)
class SubclassTree:
    """The tree as lines, and the number of subclasses."""

    lines: tuple[str, ...]
    count: int


def find_subclasses(files: Mapping[str, bytes], name: str, load_all: LoadAll) -> SubclassTree:
    """The subclasses of each class of this name; loads only files that may contain one. Raises: NotFound."""
    wanted = name.strip()
    if len(wanted) <= _MAX_NAME_LENGTH and _DOTTED.fullmatch(wanted):
        search = _SubclassSearch(files, wanted, load_all)
        search.run()
        if search.roots or search.unresolved:
            return search.build_tree()
    near = suggestion(wanted, defined_names(files, _CLASS))
    raise NotFound(f"no class '{wanted[:200]}' here, and no class derives from it{near}")


class MentionIndex:
    """Finds, without parsing, the files that may define, import or derive from a class; each file once."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._remaining = {path: data for path, data in files.items() if b"class" in data or b"import" in data}
        self._words: dict[str, frozenset[bytes]] = {}

    def take_matching(self, names: Set[str]) -> list[str]:
        """The remaining files that mention one of these names in such a statement."""
        wanted = frozenset(name.encode() for name in names)
        few = len(wanted) <= _FEW_NAMES
        found = [
            path
            for path, data in self._remaining.items()
            if (not few or any(word in data for word in wanted))
            and not wanted.isdisjoint(self._mentioned_words(path, data))
        ]
        for path in found:
            del self._remaining[path]
        return found

    def _mentioned_words(self, path: str, data: bytes) -> frozenset[bytes]:
        if path not in self._words:
            self._words[path] = frozenset(_WORDS.findall(b" ".join(_NAMING_STATEMENTS.findall(data))))
        return self._words[path]


class _SubclassSearch:
    """In each round: load files that mention known classes, and find the subclasses in them."""

    def __init__(self, files: Mapping[str, bytes], name: str, load_all: LoadAll) -> None:
        self.name = name
        self.load_all = load_all
        self.mentions = MentionIndex(files)
        self.facts: dict[str, FileFacts] = {}
        self.resolver = Resolver(ModuleIndex(files), self._load)
        self.roots: list[Class | External] = []
        self.known: set[Class | External] = set()
        self.subclasses: dict[Class | External, list[Class]] = {}
        self.unresolved: list[Class] = []

    def _load(self, path: str) -> FileFacts | None:
        if path not in self.facts:
            self.facts.update(self.load_all([path]))
        return self.facts.get(path)

    def run(self) -> None:
        """Search until a round finds nothing new."""
        last = self.name.rpartition(".")[2]
        names, new = {last}, {last}
        while new:
            self.facts.update(self.load_all(self.mentions.take_matching(new)))
            if not self.roots:
                self._choose_roots()
            before, known = set(names), len(self.known)
            for path, file in sorted(self.facts.items()):
                self._scan_file(path, file, names)
            new = names - before or (names if len(self.known) > known else set())

    def _choose_roots(self) -> None:
        classes = [Class(path, key) for path, file in self.facts.items() for key in _classes(file)]
        exact = [each for each in classes if dotted_name(each.key) == self.name]
        if not exact and "." in self.name:
            found = find_by_module(self.resolver, self.name.split("."))
            exact = [found] if isinstance(found, Class) else []
        self.roots = sorted(exact or [each for each in classes if dotted_name(each.key).endswith("." + self.name)])
        self.known.update(self.roots)

    def _scan_file(self, path: str, file: FileFacts, names: set[str]) -> None:
        """Find the classes of a file with a base named like a known class, and add their names."""
        here = names | _aliases(file.scopes.values(), names)
        names |= _aliases([file.scopes[MODULE]], here)
        for key, scope in _classes(file).items():
            each = Class(path, key)
            alike = each not in self.known and any(base and base[-1] in here for base in scope.bases)
            if alike and self._derives(each, scope):
                self.known.add(each)
                names.add(dotted_name(key).rpartition(".")[2])

    def _derives(self, each: Class, scope: ScopeFacts) -> bool:
        """Whether a base is known, or has the wanted name and is external or unresolved."""
        last = self.name.rpartition(".")[2]
        bases = self.resolver.bases(each)
        outside = [base for base in bases if isinstance(base, External) and f".{base.name}".endswith(f".{self.name}")]
        self.roots += [base for base in outside if base not in self.known]
        self.known.update(outside)
        if any(base is None and steps[-1:] == (last,) for steps, base in zip(scope.bases, bases, strict=True)):
            self.unresolved.append(each)
            return True
        return any(base in self.known for base in bases if base != each)

    def build_tree(self) -> SubclassTree:
        """The trees of all classes of the name."""
        for each in sorted(each for each in self.known if isinstance(each, Class)):
            for base in dict.fromkeys(self.resolver.bases(each)):
                if base is not None and base in self.known and base != each:
                    self.subclasses.setdefault(base, []).append(each)
        lines = [line for top in self.roots for line in self._tree_lines(top)]
        if self.unresolved:
            lines.append(f"{self.name} (unresolved)")
            lines += [line for each in self.unresolved for line in self._tree_lines(each, depth=1)]
        return SubclassTree(lines=tuple(lines), count=len(self.known - set(self.roots)))

    def _tree_lines(self, top: Class | External, depth: int = 0) -> Iterator[str]:
        waiting: list[tuple[Class | External, int]] = [(top, depth)]
        seen: set[Class | External] = set()
        while waiting:
            each, depth = waiting.pop()
            below = sorted(
                self.subclasses.get(each, []),
                key=lambda inner: (inner.path, self.facts[inner.path].scopes[inner.key].line),
            )
            again = " [shown elsewhere]" if each in seen and below else ""
            yield f"{'  ' * depth}{self._class_text(each)}{again}"
            if each not in seen:
                seen.add(each)
                waiting.extend((inner, depth + 1) for inner in reversed(below))

    def _class_text(self, each: Class | External) -> str:
        if isinstance(each, External):
            return f"{each.name} (external)"
        scope = self.facts[each.path].scopes[each.key]
        return f"{quote_path(each.path)}:{scope.line}: {' '.join(scope.signature.split())}"


def _classes(file: FileFacts) -> dict[str, ScopeFacts]:
    return {key: scope for key, scope in file.scopes.items() if scope.kind == "class"}


def _aliases(scopes: Iterable[ScopeFacts], names: set[str]) -> set[str]:
    """Other names of what has one of these names."""
    return {
        name
        for scope in scopes
        for name, bound in scope.names.items()
        if bound.kind in (BindingKind.MEMBER, BindingKind.VALUE) and bound.chain and bound.chain[-1] in names
    }
