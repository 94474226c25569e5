"""Parse the `[policy]` table of a settings file, and the effects that `--allow` names."""

from collections.abc import Collection, Iterable, Mapping
from typing import cast

from marid.core.errors import BadInput
from marid.core.policy.policy import DEFAULT_RULES, Effect, Policy, PolicyRules, Verdict
from marid.core.suggestions import close_matches, did_you_mean

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
        else:
            reader.read_rule(key, raw)
    if reader.problems:
        raise BadInput("; ".join(reader.problems))
    return PolicyRules(effects=reader.effects, tools=reader.tools, outside=reader.outside, hosts=reader.hosts)


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

    def _add_tool(self, name: str, verdict: Verdict) -> None:
        if self._known and name not in self._known:
            words = (*_EFFECTS, "outside", "hosts", *self._known)
            self.problems.append(f"policy: '{name}' is neither an effect nor a tool{_suggestion(name, words)}")
        self.tools[name] = verdict

    def _parse_verdict(self, key: str, raw: object) -> Verdict:
        found = _VERDICTS.get(raw) if isinstance(raw, str) else None
        if found is None:
            self.problems.append(f'policy: \'{key}\' must be "allow", "ask" or "deny", not {raw!r}')
        return Verdict.DENY if found is None else found


def _suggestion(word: str, words: Iterable[str]) -> str:
    return did_you_mean(close_matches(word, words)) or f"; effects are {', '.join(_EFFECTS)}"
