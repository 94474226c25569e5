"""What a project's own file makes of the settings: it may tighten them, and is not trusted to loosen any."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from marid.bootstrap.layers import Layer, both
from marid.core.checks import default_of, shown_key
from marid.core.errors import BadInput
from marid.core.fields import ADDED, setting_of


class Hearers(NamedTuple):
    """Who is told, with the key, of what a project may not set at all, and of what is looser and so ignored."""

    wrong: Callable[[str, BadInput], None]
    ignored: Callable[[str, str], None]


def tightened(below: Layer, project: Layer, hearers: Hearers) -> Layer:
    """The values, and what the project makes stricter of them."""
    made = Layer(dict(below.values), dict(below.origins))
    for name, value in project.values.items():
        try:
            found = _tightened(name, value, made.values)
        except BadInput as error:
            hearers.wrong(name, error)
            continue
        for key, why in _looser(name, value, made.values):
            hearers.ignored(key, f"'{shown_key(key)}' of a project may only tighten: {why}")
        for changed, stricter in found.items():
            if stricter != made.values.get(changed, _default(changed)):
                origin = project.origins[name]
                # Lists grow.
                made.put(changed, stricter, both(made.origins[name], origin) if _is_list(made, name) else origin)
    return made


def _is_list(layer: Layer, name: str) -> bool:
    return isinstance(layer.values.get(name), tuple)


def _tightened(name: str, value: Any, below: Mapping[str, Any]) -> dict[str, object]:
    setting = setting_of(name.partition(".")[0])
    current: Any = below.get(name, _default(name))
    match setting.tighten if setting else "":
        case "lower":
            endless = setting is not None and setting.endless
            return {name: min((one for one in (value, current) if one or not endless), default=0)}
        case "on":
            return {name: value or current}
        case "add":
            if loose := [rule for rule in value if not rule.lstrip().startswith("!")]:
                raise BadInput(f"'{name}' of a project may only exclude (begin with '!'), not {loose[0]!r}")
            return {name: (*current, *value)}
        case "exclude" if name in ADDED:
            return {name: tuple(dict.fromkeys((*(current or ()), *value)))}
        case "stricter" if setting and setting.choices:
            return {name: max(value, current, key=setting.choices.index)}
        case "stricter":
            return {"project_policy": value}
        case _:
            raise BadInput(f"'{name}' may not be set by a project")


def _default(name: str) -> object:
    setting = setting_of(name)
    return default_of(setting) if setting else {}


def _looser(name: str, value: object, below: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys that would loosen something, and why; lists can only grow."""
    if name == "policy":
        yield from _looser_rules(value, below)
    elif not isinstance(value, tuple):
        current = below.get(name, _default(name))
        if value != current and _tightened(name, value, below)[name] == current:
            yield name, _why(_told(value), _told(current))


def _looser_rules(value: Any, below: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    from marid.core.policy import DEFAULTS, Verdict  # imported when used: most projects have no such table
    from marid.core.policy_table import rules_from

    users = rules_from({"outside": below.get("outside", _default("outside")), **below.get("policy", {})}).over(DEFAULTS)
    own = rules_from(value)
    rows = [(effect.value, verdict, users.effects[effect]) for effect, verdict in own.effects.items()]
    if own.outside is not None:
        rows.append(("outside", own.outside, users.outside or Verdict.DENY))
    rows += [(_key(tool, value), said, users.tools[tool]) for tool, said in own.tools.items() if tool in users.tools]
    for key, verdict, current in rows:
        if verdict < current:
            yield f"policy.{key}", _why(_told(verdict.name.lower()), _told(current.name.lower()))
    if own.hosts:
        yield "policy.hosts", "hosts are ignored"
    if all(verdict is Verdict.ALLOW for verdict in own.effects.values()):
        # Beside a stricter rule of the project's own it would be an exception from that.
        idle = [tool for tool, verdict in own.tools.items() if verdict is Verdict.ALLOW and tool not in users.tools]
        yield from ((f"policy.{_key(tool, value)}", '"allow" changes nothing') for tool in idle)


def _key(tool: str, table: Mapping[str, Any]) -> str:
    return f"tools.{tool}" if tool in table.get("tools", ()) else tool


def _why(value: str, current: str) -> str:
    return f"{value} is ignored, as it is looser than {current}"


def _told(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else f"{value:g}"
