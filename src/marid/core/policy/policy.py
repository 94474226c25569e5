"""Who may do what: effects, verdicts, and the frozen policy that travels with every call."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum


class Effect(Enum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    NET = "net"
    SPAWN = "spawn"
    META = "meta"


class Verdict(IntEnum):
    """Ordered, so that combining verdicts is `max`: a further opinion can only make it stricter."""

    ALLOW = 0
    ASK = 1
    DENY = 2


HARMLESS_EFFECTS = frozenset({Effect.READ, Effect.META})


@dataclass(frozen=True, kw_only=True)
class PolicyRules:
    """One layer of a policy. A tool's own rule stands for its effect's within the layer.

    `outside` is for paths that lead out of the roots; `hosts` need no question (the user's own layer only).
    """

    effects: Mapping[Effect, Verdict] = field(default_factory=dict[Effect, Verdict])
    tools: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict])
    outside: Verdict | None = None
    hosts: frozenset[str] = frozenset()

    def verdict(self, effect: Effect, names: Collection[str]) -> Verdict | None:
        """What this layer says, or None; `names` are all names of the tool, and the strictest rule for one counts."""
        named = [self.tools[name] for name in names if name in self.tools]
        return max(named) if named else self.effects.get(effect)

    def with_fallback(self, weaker: "PolicyRules") -> "PolicyRules":
        """These rules, and those of `weaker` where these say nothing."""
        return PolicyRules(
            effects={**weaker.effects, **self.effects},
            tools={**weaker.tools, **self.tools},
            outside=weaker.outside if self.outside is None else self.outside,
            hosts=weaker.hosts | self.hosts,
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
)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The first of `layers` is the user's own, and denies what it does not name; every further one can only tighten.

    `granted` effects are not asked for any more (denied is denied); `trusted` waives also the questions that a grant
    leaves. `narrower` layers come after the grants: a caller that acts for another has them. `wait`: a question may
    wait for an answer from elsewhere.
    """

    layers: tuple[PolicyRules, ...] = (DEFAULT_RULES,)
    granted: frozenset[Effect] = frozenset()
    trusted: bool = False
    read_only: bool = False
    wait: bool = False
    narrower: tuple[PolicyRules, ...] = ()

    def verdict(self, effect: Effect, *names: str) -> Verdict:
        """For a tool of that effect, known by these names."""
        if self.read_only and effect not in HARMLESS_EFFECTS:
            return Verdict.DENY
        base = self.layers[0].verdict(effect, names) if self.layers else None
        configured = _strictest(Verdict.DENY if base is None else base, self.layers[1:], effect, names)
        if configured is Verdict.ASK and (self.trusted or effect in self.granted):
            configured = Verdict.ALLOW
        return _strictest(configured, self.narrower, effect, names)

    @property
    def outside(self) -> Verdict:
        """For a path that leads out of the roots: a person may be asked, but nothing else lets it pass."""
        if not self.layers or self.layers[0].outside is None:
            return Verdict.DENY
        said = [layer.outside for layer in (*self.layers, *self.narrower) if layer.outside is not None]
        return max(Verdict.ASK, *said)

    def is_known_host(self, host: str) -> bool:
        """Whether the user has named this host as one that needs no question."""
        return bool(self.layers) and host.lower() in self.layers[0].hosts

    def restrict(
        self, rules: PolicyRules | None = None, *, effects: Collection[Effect] | None = None, read_only: bool = False
    ) -> "Policy":
        """At most this policy: with stricter `rules`, with no other than these `effects`, or without any change."""
        added = [rules] if rules is not None else []
        if effects is not None:
            added.append(PolicyRules(effects={one: Verdict.DENY for one in Effect if one not in effects}))
        return replace(self, narrower=(*self.narrower, *added), read_only=self.read_only or read_only)


def _strictest(start: Verdict, layers: Collection[PolicyRules], effect: Effect, names: Collection[str]) -> Verdict:
    for layer in layers:
        said = layer.verdict(effect, names)
        if said is not None and said > start:
            start = said
    return start
