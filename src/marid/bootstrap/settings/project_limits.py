"""What a project's own file makes of the settings: it may tighten them, and is not trusted to loosen any."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from marid.bootstrap.settings.layer import SettingsLayer, join_origins
from marid.core.errors import BadInput
from marid.core.settings.schema import ADDITIVE_LISTS, find_setting
from marid.core.settings.validation import default_of, printable_key


class TighteningCallbacks(NamedTuple):
    """Who is told, with the key, of what a project may not set at all, and of what is looser and so ignored."""

    on_invalid: Callable[[str, BadInput], None]
    on_ignored: Callable[[str, str], None]


def tighten(below: SettingsLayer, project: SettingsLayer, callbacks: TighteningCallbacks) -> SettingsLayer:
    """The values, and what the project makes stricter of them."""
    made = SettingsLayer(dict(below.values), dict(below.origins))
    for name, value in project.values.items():
        try:
            found = _tighten_value(name, value, made.values)
        except BadInput as error:
            callbacks.on_invalid(name, error)
            continue
        for key, why in _loosening_keys(name, value, made.values):
            callbacks.on_ignored(key, f"'{printable_key(key)}' of a project may only tighten: {why}")
        for changed, stricter in found.items():
            if stricter != made.values.get(changed, _default(changed)):
                origin = project.origins[name]
                # Lists grow.
                made.set_value(
                    changed, stricter, join_origins(made.origins[name], origin) if _is_list(made, name) else origin
                )
    return made


def _is_list(layer: SettingsLayer, name: str) -> bool:
    return isinstance(layer.values.get(name), tuple)


def _tighten_value(name: str, value: Any, below: Mapping[str, Any]) -> dict[str, object]:
    setting = find_setting(name.partition(".")[0])
    current: Any = below.get(name, _default(name))
    match setting.tighten if setting else "":
        case "lower":
            endless = setting is not None and setting.zero_is_unlimited
            return {name: min((one for one in (value, current) if one or not endless), default=0)}
        case "on":
            return {name: value or current}
        case "add":
            if loose := [rule for rule in value if not rule.lstrip().startswith("!")]:
                raise BadInput(f"'{name}' of a project may only exclude (begin with '!'), not {loose[0]!r}")
            return {name: (*current, *value)}
        case "exclude" if name in ADDITIVE_LISTS:
            return {name: tuple(dict.fromkeys((*(current or ()), *value)))}
        case "stricter" if setting and setting.choices:
            return {name: max(value, current, key=setting.choices.index)}
        case "stricter":
            return {"project_policy": value}
        case _:
            raise BadInput(f"'{name}' may not be set by a project")


def _default(name: str) -> object:
    setting = find_setting(name)
    return default_of(setting) if setting else {}


def _loosening_keys(name: str, value: object, below: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys that would loosen something, and why; lists can only grow."""
    if name == "policy":
        yield from _loosening_policy_keys(value, below)
    elif not isinstance(value, tuple):
        current = below.get(name, _default(name))
        if value != current and _tighten_value(name, value, below)[name] == current:
            yield name, _ignored_reason(_toml_literal(value), _toml_literal(current))


def _loosening_policy_keys(value: Any, below: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    from marid.core.policy.policy import DEFAULT_RULES, Verdict  # imported when used: most projects have no such table
    from marid.core.policy.policy_table import parse_rules

    users = parse_rules(
        {"outside": below.get("outside", _default("outside")), **below.get("policy", {})}
    ).with_fallback(DEFAULT_RULES)
    own = parse_rules(value)
    rows = [(effect.value, verdict, users.effects[effect]) for effect, verdict in own.effects.items()]
    if own.outside is not None:
        rows.append(("outside", own.outside, users.outside or Verdict.DENY))
    rows += [
        (_policy_key(tool, value), said, users.tools[tool]) for tool, said in own.tools.items() if tool in users.tools
    ]
    for key, verdict, current in rows:
        if verdict < current:
            yield (
                f"policy.{key}",
                _ignored_reason(_toml_literal(verdict.name.lower()), _toml_literal(current.name.lower())),
            )
    if own.hosts:
        yield "policy.hosts", "hosts are ignored"
    if all(verdict is Verdict.ALLOW for verdict in own.effects.values()):
        # Beside a stricter rule of the project's own it would be an exception from that.
        idle = [tool for tool, verdict in own.tools.items() if verdict is Verdict.ALLOW and tool not in users.tools]
        yield from ((f"policy.{_policy_key(tool, value)}", '"allow" changes nothing') for tool in idle)


def _policy_key(tool: str, table: Mapping[str, Any]) -> str:
    return f"tools.{tool}" if tool in table.get("tools", ()) else tool


def _ignored_reason(value: str, current: str) -> str:
    return f"{value} is ignored, as it is looser than {current}"


def _toml_literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else f"{value:g}"
