"""All layers of settings, read and merged; the project's own may only tighten. Imported when something is set."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from marid.bootstrap.settings.layer import (
    Layer,
    LayerReader,
    SettingsDiagnostics,
    SetValue,
    add_items,
    drop_rival_effort,
    environment_layer,
    flag_layer,
    join_origins,
    merge_layers,
    nest_tables,
    read_toml,
)
from marid.bootstrap.settings.models_file import IDENTITY_KEYS, choose_model, provider_ids, read_models
from marid.core.errors import BadInput
from marid.core.policy.policy import DEFAULT_RULES, Verdict, parse_rules
from marid.core.settings.schema import ADDITIVE_LISTS, CHIBI_KEYS, find_setting
from marid.core.settings.validation import printable_key
from marid.core.settings.values import Settings, SettingsFiles, settings_by_key


def merge_sources(
    files: SettingsFiles, environ: Mapping[str, str], flags: Mapping[str, object], *, is_chibi_home: bool = False
) -> tuple[dict[str, Any], Mapping[str, str], tuple[str, ...]]:
    """Read every file once and merge all layers: values by top-level key, origins by key, and notes for the user.

    In a home that Chibi uses as well, unknown keys are notes, as Chibi itself ignores them. A home is Chibi's if its
    name says so or if its config.toml has a key that only Chibi knows.

    Raises: BadInput with every problem.
    """
    findings = SettingsDiagnostics()
    notes = findings.notes
    config_file, *other_files = map(read_toml, files)
    lenient = is_chibi_home or not CHIBI_KEYS.isdisjoint(config_file.table)
    config_reader = LayerReader(config_file, findings, lenient=lenient)
    models_reader, project_reader, local_reader, cli_reader, own_cli_reader = (
        LayerReader(file, findings, kind, lenient=lenient and kind != "project")
        for file, kind in zip(other_files, ("config", "project", "local", "cli", "cli"), strict=True)
    )
    config = drop_rival_effort(config_reader.read_layer(), notes)
    outside = drop_rival_effort(environment_layer(environ, provider_ids(config), findings), notes)
    models = read_models(models_reader, notes)
    project = project_reader.read_layer()
    local = drop_rival_effort(local_reader.read_layer(), notes)
    given = drop_rival_effort(flag_layer(flags, findings), notes)
    choice = choose_model((config, outside, local, given), models, notes)
    below = merge_layers((config, cli_reader.read_layer(), outside, models.layer_for(choice.names)))
    merged = merge_layers((tighten(below, project, project_reader), local, own_cli_reader.read_layer(), given))
    findings.raise_problems()
    # The chosen provider and model replace what the layers said about them one by one.
    rest = {name: value for name, value in merged.items() if name not in IDENTITY_KEYS}
    layer = {**rest, **choice.layer}
    origins = MappingProxyType({name: one.origin for name, one in layer.items()})
    return nest_tables(layer), origins, tuple(notes)


def tighten(below: Layer, project: Layer, reader: LayerReader) -> Layer:
    """The layer with everything that the project makes stricter. Looser values are ignored, with a note."""
    if not project:
        return below
    tightened = dict(below)
    defaults = settings_by_key(Settings())
    for name, (value, origin) in project.items():
        current = {**defaults, **{key: one.value for key, one in tightened.items()}}
        try:
            changed, stricter = _tighten_value(name, value, current)
        except BadInput as error:
            reader.report_problem(tuple(name.split(".")), error)
            continue
        for key, why in _loosening_keys(name, value, stricter, current):
            note = f"'{printable_key(key)}' of a project may only tighten: {why}"
            reader.add_note(tuple(key.split(".")), note)
        if stricter != current.get(changed):
            before = tightened.get(name)
            grows = before is not None and isinstance(before.value, tuple)
            tightened[changed] = SetValue(stricter, join_origins(before.origin, origin) if before and grows else origin)
    return tightened


def _tighten_value(name: str, value: Any, current: Mapping[str, Any]) -> tuple[str, Any]:
    """The setting that changes, and its stricter value."""
    setting = find_setting(name.partition(".")[0])
    before: Any = current.get(name)
    match setting.tighten if setting else "":
        case "lower":
            unlimited = setting is not None and setting.zero_is_unlimited
            return name, min((one for one in (value, before) if one or not unlimited), default=0)
        case "on":
            return name, value or before
        case "add":
            if loose := [rule for rule in value if not rule.lstrip().startswith("!")]:
                raise BadInput(f"'{name}' of a project may only exclude (start with '!'), not {loose[0]!r}")
            return name, (*before, *value)
        case "exclude" if name in ADDITIVE_LISTS:
            return name, add_items(before or (), value)
        case "stricter" if setting and setting.choices:
            return name, max(value, before, key=setting.choices.index)
        case "stricter":
            return "project_policy", value
        case _:
            raise BadInput(f"'{name}' may not be set by a project")


def _loosening_keys(
    name: str, value: object, stricter: object, current: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """The keys that would loosen something, and why they are ignored; lists can only grow."""
    if name == "policy":
        yield from _loosening_policy_keys(value, current)
    elif not isinstance(value, tuple) and value != current.get(name) and stricter == current.get(name):
        yield name, _ignored_reason(_toml_literal(value), _toml_literal(current.get(name)))


def _loosening_policy_keys(value: Any, current: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    users = parse_rules({"outside": current["outside"], **current["policy"]}).with_fallback(DEFAULT_RULES)
    own = parse_rules(value)
    rows = [(effect.value, verdict, users.effects[effect]) for effect, verdict in own.effects.items()]
    if own.outside is not None:
        rows.append(("outside", own.outside, users.outside or Verdict.DENY))
    rows += [
        (_policy_key(tool, value), verdict, users.tools[tool])
        for tool, verdict in own.tools.items()
        if tool in users.tools
    ]
    for key, verdict, before in rows:
        if verdict < before:
            words = (_toml_literal(one.name.lower()) for one in (verdict, before))
            yield f"policy.{key}", _ignored_reason(*words)
    for key, number in own.limits.items():
        if number > users.limits[key]:
            yield f"policy.{key}", _ignored_reason(f"{number:g}", f"{users.limits[key]:g}")
    if own.hosts:
        yield "policy.hosts", "hosts are ignored"
    if all(verdict is Verdict.ALLOW for verdict in own.effects.values()):
        # Beside a stricter rule of the project it would be an exception to that rule.
        idle = [tool for tool, verdict in own.tools.items() if verdict is Verdict.ALLOW and tool not in users.tools]
        yield from ((f"policy.{_policy_key(tool, value)}", '"allow" changes nothing') for tool in idle)


def _policy_key(tool: str, table: Mapping[str, Any]) -> str:
    return f"tools.{tool}" if tool in table.get("tools", ()) else tool


def _ignored_reason(value: str, current: str) -> str:
    return f"{value} is ignored because it is looser than {current}"


def _toml_literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else f"{value:g}"
