"""Decide about names in one folder by all layers, strongest first."""

from functools import reduce
from typing import NamedTuple

from marid.workspace.rules.parse import CONFIG, IGNORE, INLINE, NEAR, NO_RULE, PathRule
from marid.workspace.rules.rule_layers import NameTest, RuleLayer, RuleSource


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
