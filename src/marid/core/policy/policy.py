"""Effects, verdicts, and the frozen policy that every call carries."""

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
    """Ordered, so that `max` combines verdicts: another layer can only be stricter."""

    ALLOW = 0
    ASK = 1
    DENY = 2


HARMLESS_EFFECTS = frozenset({Effect.READ, Effect.META})


@dataclass(frozen=True, kw_only=True)
class PolicyRules:
    """One layer of a policy. Within it, a tool's rule overrides that of its effect.

    `outside` is for paths outside the roots; `hosts` need no question (in the user's own layer only).
    """

    effects: Mapping[Effect, Verdict] = field(default_factory=dict[Effect, Verdict])
    tools: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict])
    outside: Verdict | None = None
    hosts: frozenset[str] = frozenset()

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
