"""A source of rules, and the layer of it that applies in one folder.

Rules with a slash advance by one component per folder of the walk. In each folder only rules at their last component
are matched, and folders in the same state share one layer.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

from marid.workspace.rules.name_glob import ANY_NAME, NameGlob
from marid.workspace.rules.parse import CONFIG, PathRule, bytes_as_text, normalize_nfc

NameTest: TypeAlias = Callable[[str], object]


class RuleSource:
    """A rule file, the inline rules or the defaults; `origin` names it in messages."""

    def __init__(self, rules: tuple[PathRule, ...], *, rank: int, origin: str, ignore_case: bool = False) -> None:
        self.rules = rules
        self.rank = rank
        self.origin = origin
        # In context rules an exclusion beats an inclusion; in ignore files the last match wins.
        self.is_contextual = rank <= CONFIG
        self.ignore_case = ignore_case
        # A rule that counts characters, or has letters outside ASCII, needs names in composed form.
        self.needs_normalizing = self.is_contextual and any(
            not rule.text.isascii() or any(part is not None and part.per_character for part in rule.parts)
            for rule in rules
        )
        self.floating_rules = tuple(i for i, rule in enumerate(rules) if rule.is_floating)
        self._layers: dict[tuple[frozenset[tuple[int, int]], bool], RuleLayer] = {}

    def layer(self, alive: frozenset[tuple[int, int]], *, excluded_above: bool = False) -> "RuleLayer":
        """The one layer object for this state."""
        found = self._layers.get((alive, excluded_above))
        if found is None:
            found = self._layers[alive, excluded_above] = RuleLayer(self, alive, excluded_above=excluded_above)
        return found

    def top_layer(self) -> "RuleLayer":
        """The layer in the folder of the source."""
        start = {(i, 0) for i, rule in enumerate(self.rules) if not rule.is_floating}
        return self.layer(frozenset(self._with_skips(start)))

    def _with_skips(self, states: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for rule, at in states:
            yield rule, at
            parts = self.rules[rule].parts
            if parts[at] is None and at + 1 < len(parts):  # two in a row do not occur
                yield rule, at + 1

    def advance(self, alive: frozenset[tuple[int, int]], name: str) -> frozenset[tuple[int, int]]:
        """The states in the sub-folder `name`."""
        following: set[tuple[int, int]] = set()
        for rule, at in alive:
            parts = self.rules[rule].parts
            part = parts[at]
            if part is None:
                following.add((rule, at))
            elif at + 1 < len(parts) and self.matcher(part)(name):
                following.add((rule, at + 1))
        return frozenset(self._with_skips(following))

    def matcher(self, *globs: NameGlob) -> NameTest:
        """A test whether a name matches one of `globs`, with the case and encoding rules of this source."""
        return _compile_matcher(globs, fold=self.ignore_case, bytewise=not self.is_contextual)


class RuleTable(NamedTuple):
    """Rules by whole name and by suffix; the rest by one joint regex and then one by one."""

    names: dict[str, tuple[int, ...]]
    suffixes: dict[str, tuple[int, ...]]
    rest: tuple[tuple[NameGlob, int], ...]
    any_rest: NameTest | None


class RuleLayer:
    """A source in one folder.

    `excluded_above`: a wildcard exclusion of this source has excluded the folder, so only the inclusion of a file
    without wildcards still counts.
    """

    def __init__(self, source: RuleSource, alive: frozenset[tuple[int, int]], *, excluded_above: bool) -> None:
        self.source = source
        self.excluded_above = excluded_above
        self._alive = alive
        self._tables: dict[bool, RuleTable] = {}
        self._matchers: dict[bool, list[tuple[NameTest, int]]] = {}
        self.is_flat = not alive
        rules = source.rules
        counting = {*source.floating_rules, *(rule for rule, _ in alive)}
        self.may_include = source.is_contextual and any(
            rules[i].include and (not excluded_above or (rules[i].is_plain and not rules[i].folders_only))
            for i in counting
        )

    def below(self, name: str) -> "RuleLayer":
        """The layer in the sub-folder `name`."""
        if not self._alive:
            return self
        alive = self.source.advance(self._alive, _normalize_name(name, self.source))
        return self.source.layer(alive, excluded_above=self.excluded_above)

    def below_exclusion(self) -> "RuleLayer":
        """This layer below a folder that its own wildcard exclusion excluded."""
        return self.source.layer(self._alive, excluded_above=True)

    def table(self, *, folders: bool) -> RuleTable:
        """The rules that can match a name in this folder."""
        found = self._tables.get(folders)
        if found is None:
            found = self._tables[folders] = self._build_table(folders=folders)
        return found

    def find_matches(self, name: str, *, folder: bool) -> list[int]:
        """The numbers of the rules that match `name`, in order."""
        names, suffixes, rest, any_rest = self.table(folders=folder)
        name = _normalize_name(name, self.source)
        found = {*names.get(name, ()), *suffixes.get(name[name.rfind(".") :], ())}
        if any_rest is not None and any_rest(name):
            found.update(number for matches, number in self._single_matchers(rest, folder=folder) if matches(name))
        return sorted(found)

    def _build_table(self, *, folders: bool) -> RuleTable:
        names: dict[str, tuple[int, ...]] = {}
        suffixes: dict[str, tuple[int, ...]] = {}
        rest: list[tuple[NameGlob, int]] = []
        for number, glob in self._last_parts():
            if self.source.rules[number].folders_only and not folders:
                continue
            if glob.name is not None and not self.source.ignore_case:
                names[glob.name] = (*names.get(glob.name, ()), number)
            elif glob.suffix is not None and not self.source.ignore_case:
                suffixes[glob.suffix] = (*suffixes.get(glob.suffix, ()), number)
            else:
                rest.append((glob, number))
        joined = self.source.matcher(*(glob for glob, _ in rest)) if rest else None
        return RuleTable(names, suffixes, tuple(rest), joined)

    def _single_matchers(self, rest: tuple[tuple[NameGlob, int], ...], *, folder: bool) -> list[tuple[NameTest, int]]:
        """Compiled at the first hit of the joint regex: most patterns never have one."""
        found = self._matchers.get(folder)
        if found is None:
            found = self._matchers[folder] = [(self.source.matcher(glob), number) for glob, number in rest]
        return found

    def _last_parts(self) -> Iterator[tuple[int, NameGlob]]:
        rules = self.source.rules
        for number in self.source.floating_rules:
            yield number, rules[number].parts[1] or ANY_NAME
        for number, at in self._alive:
            if at + 1 == len(rules[number].parts):
                yield number, rules[number].parts[at] or ANY_NAME


def _normalize_name(name: str, source: RuleSource) -> str:
    """Context rules treat composed and decomposed letters alike; git does not."""
    return normalize_nfc(name) if source.is_contextual else name


def _glob_regex(glob: NameGlob, *, bytewise: bool) -> str:
    if glob.regex is not None:
        return glob.regex
    text = re.escape(glob.name) if glob.name is not None else f".*{re.escape(glob.suffix or '')}"
    return bytes_as_text(text) if bytewise else text


@cache
def _compile_matcher(globs: tuple[NameGlob, ...], *, fold: bool, bytewise: bool) -> NameTest:
    """A test whether one of `globs` matches a name."""
    if len(globs) == 1 and globs[0].name is not None and not fold:
        return globs[0].name.__eq__
    sources = dict.fromkeys(_glob_regex(glob, bytewise=bytewise) for glob in globs)
    source = "|".join(f"(?:{source})" for source in sources)
    matches = re.compile(source, re.DOTALL | (re.IGNORECASE | re.ASCII if fold else re.NOFLAG)).fullmatch
    # In git `?` and classes match one byte, elsewhere one character.
    if bytewise and (any(glob.per_character for glob in globs) or not source.isascii()):
        return lambda name: matches(name if name.isascii() else bytes_as_text(name))
    return matches
