"""A source of rules, and what is left of it in one folder.

Rules with a slash are followed component by component while the walk goes down: in each folder only the rules
whose last component stands next are asked, and a folder in which none is left alive shares one layer object.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

from marid.workspace.glob import ANYTHING, Glob
from marid.workspace.rules import CONFIG, Rule, as_bytes

Matches: TypeAlias = Callable[[str], object]


class Source:
    """One rule file, or the inline rules, or the defaults. `rank` says how strong, `origin` where it stands."""

    def __init__(self, rules: tuple[Rule, ...], *, rank: int, origin: str, fold: bool = False) -> None:
        self.rules = rules
        self.rank = rank
        self.origin = origin
        # In context rules an exclusion beats an inclusion; in ignore files the last match wins.
        self.contextual = rank <= CONFIG
        self.fold = fold
        # Some rule sees letters one by one, and those outside ASCII have more than one spelling.
        self.spelled = self.contextual and not all(rule.text.isascii() and not _counting(rule) for rule in rules)
        self.floating = tuple(i for i, rule in enumerate(rules) if rule.floating)
        self._layers: dict[tuple[frozenset[tuple[int, int]], bool], Layer] = {}

    def layer(self, alive: frozenset[tuple[int, int]], *, sunk: bool = False) -> "Layer":
        """The one layer object for this state."""
        found = self._layers.get((alive, sunk))
        if found is None:
            found = self._layers[alive, sunk] = Layer(self, alive, sunk=sunk)
        return found

    def top(self) -> "Layer":
        """The layer in the folder that the source stands in."""
        start = {(i, 0) for i, rule in enumerate(self.rules) if not rule.floating}
        return self.layer(frozenset(self._closed(start)))

    def _closed(self, states: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for rule, at in states:
            yield rule, at
            parts = self.rules[rule].parts
            if parts[at] is None and at + 1 < len(parts):  # two in a row do not occur
                yield rule, at + 1

    def below(self, alive: frozenset[tuple[int, int]], name: str) -> frozenset[tuple[int, int]]:
        """The states after going down into `name`."""
        following: set[tuple[int, int]] = set()
        for rule, at in alive:
            parts = self.rules[rule].parts
            part = parts[at]
            if part is None:
                following.add((rule, at))
            elif at + 1 < len(parts) and self.matcher(part)(name):
                following.add((rule, at + 1))
        return frozenset(self._closed(following))

    def matcher(self, *globs: Glob) -> Matches:
        """What tells whether a name matches one of `globs` by this source's rules of equality."""
        return _matcher(globs, fold=self.fold, bytewise=not self.contextual)


class Table(NamedTuple):
    """Rules ready to be asked about names: by whole name, by suffix, the rest by one regex and then one by one."""

    names: dict[str, tuple[int, ...]]
    suffixes: dict[str, tuple[int, ...]]
    rest: tuple[tuple[Glob, int], ...]
    any_rest: Matches | None


class Layer:
    """A source as it stands in one folder.

    `sunk` means that a wildcard exclusion of this source has excluded the folder: only an inclusion that names
    a file without wildcards still counts.
    """

    def __init__(self, source: Source, alive: frozenset[tuple[int, int]], *, sunk: bool) -> None:
        self.source = source
        self.sunk = sunk
        self._alive = alive
        self._tables: dict[bool, Table] = {}
        self._matchers: dict[bool, list[tuple[Matches, int]]] = {}
        self.flat = not alive
        rules = source.rules
        counting = {*source.floating, *(rule for rule, _ in alive)}
        self.may_include = source.contextual and any(
            rules[i].include and (not sunk or (rules[i].plain and not rules[i].folders_only)) for i in counting
        )

    def below(self, name: str) -> "Layer":
        """The layer in the sub-folder `name`."""
        if not self._alive:
            return self
        return self.source.layer(self.source.below(self._alive, _nfc(name, self.source)), sunk=self.sunk)

    def sink(self) -> "Layer":
        """This layer below a folder that one of its own wildcard exclusions excluded."""
        return self.source.layer(self._alive, sunk=True)

    def table(self, *, folders: bool) -> Table:
        """The rules that may match a name in this folder directly."""
        found = self._tables.get(folders)
        if found is None:
            found = self._tables[folders] = self._table(folders=folders)
        return found

    def matching(self, name: str, *, folder: bool) -> list[int]:
        """The numbers of the rules that match `name` directly, in order."""
        names, suffixes, rest, any_rest = self.table(folders=folder)
        name = _nfc(name, self.source)
        found = {*names.get(name, ()), *suffixes.get(name[name.rfind(".") :], ())}
        if any_rest is not None and any_rest(name):
            found.update(number for matches, number in self._each(rest, folder=folder) if matches(name))
        return sorted(found)

    def _table(self, *, folders: bool) -> Table:
        names: dict[str, tuple[int, ...]] = {}
        suffixes: dict[str, tuple[int, ...]] = {}
        rest: list[tuple[Glob, int]] = []
        for number, glob in self._last_parts():
            if self.source.rules[number].folders_only and not folders:
                continue
            if glob.name is not None and not self.source.fold:
                names[glob.name] = (*names.get(glob.name, ()), number)
            elif glob.suffix is not None and not self.source.fold:
                suffixes[glob.suffix] = (*suffixes.get(glob.suffix, ()), number)
            else:
                rest.append((glob, number))
        joined = self.source.matcher(*(glob for glob, _ in rest)) if rest else None
        return Table(names, suffixes, tuple(rest), joined)

    def _each(self, rest: tuple[tuple[Glob, int], ...], *, folder: bool) -> list[tuple[Matches, int]]:
        """Compiled at the first hit only: most patterns never have one."""
        found = self._matchers.get(folder)
        if found is None:
            found = self._matchers[folder] = [(self.source.matcher(glob), number) for glob, number in rest]
        return found

    def _last_parts(self) -> Iterator[tuple[int, Glob]]:
        rules = self.source.rules
        for number in self.source.floating:
            part = rules[number].parts[1]
            if part is not None:
                yield number, part
        for number, at in self._alive:
            if at + 1 == len(rules[number].parts):
                yield number, rules[number].parts[at] or ANYTHING


def _nfc(name: str, source: Source) -> str:
    """Context rules do not tell composed from decomposed letters; git does."""
    if not source.contextual or name.isascii():
        return name
    import unicodedata

    return unicodedata.normalize("NFC", name)


def _counting(rule: Rule) -> bool:
    return any(part is not None and part.counting for part in rule.parts)


def _source(glob: Glob, *, bytewise: bool) -> str:
    if glob.regex is not None:
        return glob.regex
    text = re.escape(glob.name) if glob.name is not None else f".*{re.escape(glob.suffix or '')}"
    return as_bytes(text) if bytewise else text


@cache
def _matcher(globs: tuple[Glob, ...], *, fold: bool, bytewise: bool) -> Matches:
    """Whether one of `globs` matches a name."""
    if len(globs) == 1 and globs[0].name is not None and not fold:
        return globs[0].name.__eq__
    sources = dict.fromkeys(_source(glob, bytewise=bytewise) for glob in globs)
    source = "|".join(f"(?:{source})" for source in sources)
    matches = re.compile(source, re.DOTALL | (re.IGNORECASE | re.ASCII if fold else re.NOFLAG)).fullmatch
    # git's `?` and classes mean one byte; elsewhere they mean one character.
    if bytewise and (any(glob.counting for glob in globs) or not source.isascii()):
        return lambda name: matches(name if name.isascii() else as_bytes(name))
    return matches
