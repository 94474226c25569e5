"""Which calls are allowed, asked about or denied: rules, their table in a settings file, and the effects of --allow."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from typing import cast

from marid.core.errors import BadInput
from marid.core.suggestions import close_matches, did_you_mean


class Effect(Enum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    NET = "net"
    SPAWN = "spawn"
    META = "meta"


class Verdict(IntEnum):
    """Ordered, so that `max` combines verdicts: another layer can only be stricter."""

    ALLOW = 0
    ASK = 1
    DENY = 2


HARMLESS_EFFECTS = frozenset({Effect.READ, Effect.META})


@dataclass(frozen=True, kw_only=True)
class PolicyRules:
    """One layer of a policy. Within it, a tool's rule overrides that of its effect.

    `outside` is for paths outside the roots; `hosts` need no question (in the user's own layer only). `limits` are for
    questions: `ask_seconds` and `plan_limit`.
    """

    effects: Mapping[Effect, Verdict] = field(default_factory=dict[Effect, Verdict])
    tools: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict])
    outside: Verdict | None = None
    hosts: frozenset[str] = frozenset()
    limits: Mapping[str, float] = field(default_factory=dict[str, float])

    def verdict(self, effect: Effect, names: Collection[str]) -> Verdict | None:
        """The verdict of this layer, or None. Of several rules for the tool's names the strictest counts."""
        named = [self.tools[name] for name in names if name in self.tools]
        return max(named) if named else self.effects.get(effect)

    def with_fallback(self, weaker: "PolicyRules") -> "PolicyRules":
        """These rules, completed by those of `weaker`."""
        return PolicyRules(
            effects={**weaker.effects, **self.effects},
            tools={**weaker.tools, **self.tools},
            outside=weaker.outside if self.outside is None else self.outside,
            hosts=weaker.hosts | self.hosts,
            limits={**weaker.limits, **self.limits},
        )


DEFAULT_RULES = PolicyRules(
    effects={
        Effect.READ: Verdict.ALLOW,
        Effect.META: Verdict.ALLOW,
        Effect.WRITE: Verdict.ASK,
        Effect.EXEC: Verdict.ASK,
        Effect.NET: Verdict.ASK,
        Effect.SPAWN: Verdict.ASK,
    },
    outside=Verdict.DENY,
    limits={"ask_seconds": 60, "plan_limit": 4000},
)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The first of `layers` is the user's own and denies what it does not name; every other one can only tighten.

    `granted` turns ASK into ALLOW for these effects, `trusted` for all, and `trusted` also waives the questions that
    grants leave. `narrower` layers apply after the grants, for a caller that acts for another. With `wait`, a question
    may wait for an answer from another process.
    """

    layers: tuple[PolicyRules, ...] = (DEFAULT_RULES,)
    granted: frozenset[Effect] = frozenset()
    trusted: bool = False
    read_only: bool = False
    wait: bool = False
    narrower: tuple[PolicyRules, ...] = ()

    def verdict(self, effect: Effect, *names: str) -> Verdict:
        """The verdict on a tool with that effect and these names."""
        if self.read_only and effect not in HARMLESS_EFFECTS:
            return Verdict.DENY
        base = self.layers[0].verdict(effect, names) if self.layers else None
        configured = _strictest(Verdict.DENY if base is None else base, self.layers[1:], effect, names)
        if configured is Verdict.ASK and (self.trusted or effect in self.granted):
            configured = Verdict.ALLOW
        return _strictest(configured, self.narrower, effect, names)

    @property
    def outside(self) -> Verdict:
        """The verdict on a path outside the roots: at best a person is asked."""
        if not self.layers or self.layers[0].outside is None:
            return Verdict.DENY
        verdicts = [layer.outside for layer in (*self.layers, *self.narrower) if layer.outside is not None]
        return max(Verdict.ASK, *verdicts)

    @property
    def ask_seconds(self) -> float:
        """How long a question waits where no terminal and no `wait` gives the person all the time."""
        return self._limit("ask_seconds")

    @property
    def plan_limit(self) -> int:
        """Lines of a plan that a person can be asked about where it cannot be paged."""
        return int(self._limit("plan_limit"))

    def _limit(self, name: str) -> float:
        values = [layer.limits[name] for layer in (*self.layers, *self.narrower) if name in layer.limits]
        return min(values, default=DEFAULT_RULES.limits[name])

    def is_known_host(self, host: str) -> bool:
        """Whether the user has listed this host in `hosts`."""
        return bool(self.layers) and host.lower() in self.layers[0].hosts

    def restrict(
        self, rules: PolicyRules | None = None, *, effects: Collection[Effect] | None = None, read_only: bool = False
    ) -> "Policy":
        """A policy that is at most this one: with more `rules`, only these `effects`, or `read_only`."""
        added = [rules] if rules is not None else []
        if effects is not None:
            added.append(PolicyRules(effects={one: Verdict.DENY for one in Effect if one not in effects}))
        return replace(self, narrower=(*self.narrower, *added), read_only=self.read_only or read_only)


def _strictest(start: Verdict, layers: Collection[PolicyRules], effect: Effect, names: Collection[str]) -> Verdict:
    verdicts = (layer.verdict(effect, names) for layer in layers)
    return max([start, *(verdict for verdict in verdicts if verdict is not None)])


_VERDICTS = {verdict.name.lower(): verdict for verdict in Verdict}
_EFFECTS = {effect.value: effect for effect in Effect}


def parse_policy(user: Mapping[str, object], *projects: Mapping[str, object], known: Collection[str] = ()) -> Policy:
    """The policy from a user's table and project tables, which can only tighten it.

    Raises: BadInput that names every problem of the tables.
    """
    base = parse_rules(user, known).with_fallback(DEFAULT_RULES)
    return Policy(layers=(base, *(parse_rules(table, known) for table in projects)))


def parse_rules(table: Mapping[str, object], known: Collection[str] = ()) -> PolicyRules:
    """One layer. Keys are effects, `outside`, `hosts`, `tools` and names of tools, which must be in `known` if given.

    Raises: BadInput that names every problem.
    """
    reader = _TableReader(known)
    for key, raw in table.items():
        if key == "hosts":
            reader.read_hosts(raw)
        elif key == "tools":
            reader.read_tools(raw)
        elif key in DEFAULT_RULES.limits:
            reader.read_limit(key, raw)
        else:
            reader.read_rule(key, raw)
    if reader.problems:
        raise BadInput("; ".join(reader.problems))
    return PolicyRules(
        effects=reader.effects, tools=reader.tools, outside=reader.outside, hosts=reader.hosts, limits=reader.limits
    )


def parse_effects(words: str | Iterable[str]) -> frozenset[Effect]:
    """The effects in a list such as `write,exec`. Raises: BadInput for an unknown one."""
    split = words.split(",") if isinstance(words, str) else words
    found: set[Effect] = set()
    for word in filter(None, (word.strip().lower() for word in split)):
        if word not in _EFFECTS:
            raise BadInput(f"unknown effect '{word}'{_suggestion(word, _EFFECTS)}")
        found.add(_EFFECTS[word])
    return frozenset(found)


class _TableReader:
    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self.effects: dict[Effect, Verdict] = {}
        self.tools: dict[str, Verdict] = {}
        self.outside: Verdict | None = None
        self.hosts: frozenset[str] = frozenset()
        self.limits: dict[str, float] = {}
        self.problems: list[str] = []

    def read_rule(self, key: str, raw: object) -> None:
        verdict = self._parse_verdict(key, raw)
        if key == "outside":
            if verdict is Verdict.ALLOW:
                self.problems.append(
                    'policy: \'outside\' must be "ask" or "deny"; to allow one path, run `marid allow PATH`'
                )
            self.outside = verdict
        elif key in _EFFECTS:
            self.effects[_EFFECTS[key]] = verdict
        else:
            self._add_tool(key, verdict)

    def read_tools(self, raw: object) -> None:
        if not isinstance(raw, Mapping):
            self.problems.append(f"policy: 'tools' must be a table of names and verdicts, not {raw!r}")
            return
        for name, verdict in cast("Mapping[str, object]", raw).items():
            self._add_tool(name, self._parse_verdict(name, verdict))

    def read_hosts(self, raw: object) -> None:
        hosts = cast("list[object]", raw) if isinstance(raw, list) else []
        names = [host for host in hosts if isinstance(host, str) and host and "/" not in host]
        if not isinstance(raw, list) or len(names) < len(hosts):
            self.problems.append(f"policy: 'hosts' must be a list of host names, not {raw!r}")
        self.hosts = frozenset(name.lower() for name in names)

    def read_limit(self, key: str, raw: object) -> None:
        number = float(raw) if isinstance(raw, str) and raw.isdecimal() else raw  # a variable has only text
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1e9:
            self.problems.append(f"policy: '{key}' must be a number above 0, not {raw!r}")
        else:
            self.limits[key] = number

    def _add_tool(self, name: str, verdict: Verdict) -> None:
        if self._known and name not in self._known:
            words = (*_EFFECTS, "outside", "hosts", *DEFAULT_RULES.limits, *self._known)
            self.problems.append(f"policy: '{name}' is neither an effect nor a tool{_suggestion(name, words)}")
        self.tools[name] = verdict

    def _parse_verdict(self, key: str, raw: object) -> Verdict:
        found = _VERDICTS.get(raw) if isinstance(raw, str) else None
        if found is None:
            self.problems.append(f'policy: \'{key}\' must be "allow", "ask" or "deny", not {raw!r}')
        return Verdict.DENY if found is None else found


def _suggestion(word: str, words: Iterable[str]) -> str:
    return did_you_mean(close_matches(word, words)) or f"; effects are {', '.join(_EFFECTS)}"
