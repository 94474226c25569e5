"""Decide about names in one folder by the layers of all sources of rules, strongest first.

Rules with a slash advance by one component per folder of the walk. In each folder only rules at their last component
are matched, and folders in the same state share one layer.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, reduce
from typing import NamedTuple, TypeAlias

from marid.workspace.rules.name_glob import ANY_NAME, NameGlob
from marid.workspace.rules.parse import CONFIG, IGNORE, INLINE, NEAR, NO_RULE, PathRule, bytes_as_text, normalize_nfc

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


class PathMatcher:
    """Matches whole paths by rules that include; one that matches a folder matches everything below."""

    def __init__(self, rules: tuple[PathRule, ...]) -> None:
        self._top = RuleSource(rules, rank=INLINE, origin="").top_layer()

    def last_match(self, path: str) -> int:
        """The number of the last rule that matches the file `path`; -1 if none does."""
        folder, _, name = path.rpartition("/")
        layer, last = self._descend(folder)
        return max(last, *layer.find_matches(name, folder=False), -1)

    def matching_names(self, folder: str, names: list[str]) -> list[str]:
        """The files among `names` in `folder` that a rule matches."""
        layer, last = self._descend(folder)
        return names if last >= 0 else [name for name in names if layer.find_matches(name, folder=False)]

    def _descend(self, folder: str) -> tuple[RuleLayer, int]:
        """The layer in `folder`, and the last rule that matches it or a folder above."""
        layer, last = self._top, -1
        for name in folder.split("/") if folder else ():
            last = max(last, *layer.find_matches(name, folder=True), -1)
            layer = layer.below(name)
        return layer, last


class Decision(NamedTuple):
    """Whether to include, and by which rule of which source; without a rule nothing matched."""

    include: bool
    rank: int = NO_RULE
    rule: PathRule | None = None
    source: RuleSource | None = None


INCLUDED = Decision(include=True)


class NameFilter(NamedTuple):
    """A quick test: names that hit none of this are decided by the fallback."""

    names: frozenset[str]
    suffixes: frozenset[str]
    rest: NameTest
    # Every name that hits `suffixes` or `rest` contains one of these; None if that is not known.
    hints: tuple[str, ...] | None


class RuleStack:
    """The layers of one folder, and `fallback`: the decision for names that none of them matches.

    Below an excluded folder only stronger sources are kept, which may still include a file there; below a folder that a
    context rule included, weaker sources are dropped.
    """

    def __init__(self, layers: tuple[RuleLayer, ...], fallback: Decision, pool: "RuleStackPool") -> None:
        self.layers = layers
        self.fallback = fallback
        self._pool = pool
        self._is_flat = all(layer.is_flat for layer in layers)
        # An excluded folder is entered only if a stronger source may include something below it.
        self.is_open = fallback.include or any(layer.may_include for layer in layers)
        self._filters: dict[bool, NameFilter] = {}
        self._needs_normalizing = any(layer.source.needs_normalizing for layer in layers)

    def select(self, names: list[str]) -> list[str]:
        """The files among `names` (sorted) to include."""
        hot = self.find_candidates(names, folders=False)
        if not hot:
            return names if self.fallback.include else []
        if not self.fallback.include:
            return [name for name in hot if self.judge(name, folder=False).include]
        out = {name for name in hot if not self.judge(name, folder=False).include}
        return [name for name in names if name not in out] if out else names

    def find_candidates(self, names: list[str], *, folders: bool) -> list[str]:
        """The names that some rule may match; the fallback decides the others."""
        name_filter = self._filters.get(folders)
        if name_filter is None:
            name_filter = self._filters[folders] = self._make_filter(folders=folders)
        exact, suffixes, rest, hints = name_filter
        if hints is not None and exact.isdisjoint(names):
            # One test of all names together decides nearly every folder.
            together = "\n".join(names)
            if not any([hint in together for hint in hints]):  # noqa: C419 - a generator costs more than it saves
                return []
        return [name for name in names if name in exact or name[name.rfind(".") :] in suffixes or rest(name)]

    def judge(self, name: str, *, folder: bool) -> Decision:
        """Decide about one name."""
        for layer in self.layers:
            found = _decide(layer, layer.find_matches(name, folder=folder), folder=folder)
            if found is not None:
                return found
        return self.fallback

    def below(self, name: str, decision: Decision) -> "RuleStack":
        """The stack in the sub-folder `name`, for which `judge` returned `decision`."""
        contextual = decision.rank <= CONFIG
        if decision is self.fallback or (decision.include and not contextual):
            # git's `!folder/` only undoes an exclusion; the same rules apply below.
            if self._is_flat:
                return self
            return self._pool.get_stack(tuple(x.below(name) for x in self.layers), self.fallback)
        at = next(i for i, x in enumerate(self.layers) if x.source is decision.source)
        kept = [x.below(name) for x in self.layers[:at] if x.source.is_contextual]
        is_plain = decision.rule is not None and decision.rule.is_plain
        if contextual and (decision.include or not is_plain):
            own = self.layers[at].below(name)
            kept.append(own if decision.include else own.below_exclusion())
        return self._pool.get_stack(tuple(kept), decision)

    def with_sources(self, near: list[RuleSource], ignores: list[RuleSource], *, repository: bool) -> "RuleStack":
        """This stack with the rule files of the folder; in a repository the ignore rules from above end."""
        layers = list(self.layers)
        if repository:
            layers = [x for x in layers if x.source.rank != IGNORE]
        if self.fallback.rank >= NEAR:
            at = sum(1 for x in layers if x.source.rank == INLINE)
            layers[at:at] = [source.top_layer() for source in near]
        if self.fallback.rank > IGNORE:
            at = sum(1 for x in layers if x.source.rank < IGNORE)
            layers[at:at] = [source.top_layer() for source in ignores]
        return self._pool.get_stack(tuple(layers), self.fallback)

    def enter_named(self, name: str) -> "RuleStack":
        """The stack in a folder that the user named: a rule can include it, but not exclude it."""
        decision = self.judge(name, folder=True)
        return self.below(name, decision if decision.include else self.fallback)

    def _make_filter(self, *, folders: bool) -> NameFilter:
        tables = [layer.table(folders=folders) for layer in self.layers]
        rests = [table.any_rest for table in tables if table.any_rest is not None]
        names = {name for table in tables for name in table.names}
        suffixes = {suffix for table in tables for suffix in table.suffixes}
        if self._needs_normalizing:  # `judge` composes letters before it matches
            rests.append(lambda name: not name.isascii())
        hints = {glob.hint for table in tables for glob, _ in table.rest}
        unknown = self._needs_normalizing or "" in hints or any(layer.source.ignore_case for layer in self.layers)
        rest: NameTest = reduce(_either, rests) if rests else lambda name: False
        return NameFilter(frozenset(names), frozenset(suffixes), rest, None if unknown else tuple(hints | suffixes))


class RuleStackPool:
    """Keeps one RuleStack per state, since nearly all folders of a project share a few."""

    def __init__(self) -> None:
        self._stacks: dict[tuple[tuple[RuleLayer, ...], Decision], RuleStack] = {}

    def get_stack(self, layers: tuple[RuleLayer, ...], fallback: Decision = INCLUDED) -> RuleStack:
        """The one stack of these layers."""
        found = self._stacks.get((layers, fallback))
        if found is None:
            found = self._stacks[layers, fallback] = RuleStack(layers, fallback, self)
        return found


def _decide(layer: RuleLayer, matched: list[int], *, folder: bool) -> Decision | None:
    """The decision of one source; None without one."""
    source = layer.source
    rules = source.rules
    if not matched:
        return None
    if not source.is_contextual:
        last = rules[matched[-1]]
        return Decision(include=last.include, rank=source.rank, rule=last, source=source)
    including = [rules[i] for i in matched if rules[i].include]
    excluding = [rules[i] for i in matched if not rules[i].include]
    named = next((rule for rule in including if rule.is_plain and not rule.folders_only), None)
    if named is not None and not folder and not any(rule.is_plain for rule in excluding):
        return Decision(include=True, rank=source.rank, rule=named, source=source)
    if excluding:
        # A plain exclusion is stronger: nothing below it can be included again.
        rule = next((rule for rule in excluding if rule.is_plain), excluding[0])
        return Decision(include=False, rank=source.rank, rule=rule, source=source)
    return None if layer.excluded_above else Decision(include=True, rank=source.rank, rule=including[0], source=source)


def _either(first: NameTest, second: NameTest) -> NameTest:
    return lambda name: first(name) or second(name)
