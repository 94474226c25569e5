"""Settings from environment variables and flags."""

from collections.abc import Iterable, Iterator, Mapping

from marid.bootstrap.settings.layer import Layer, SettingsDiagnostics, SetValue
from marid.core.errors import BadInput
from marid.core.settings.schema import (
    ANY_PROVIDER,
    SETTINGS,
    UNSUPPORTED_KEYS,
    Setting,
    find_setting,
    unknown_key_hint,
)
from marid.core.settings.validation import flatten, parse_and_check, printable_key

FLAG = "flag"
_PREFIX = "MARID_"
_PROVIDERS = f"{_PREFIX}PROVIDERS_"


def variable_name(setting: Setting) -> str:
    """Our own name of a setting in the environment."""
    return f"{_PREFIX}{setting.name.upper().replace('.', '_')}"


def environment_layer(environ: Mapping[str, str], ids: Iterable[str], findings: SettingsDiagnostics) -> Layer:
    """What variables set; an empty one sets nothing. `ids` are the providers of config.toml."""
    layer: Layer = {}
    for setting in SETTINGS:
        if setting.kind == "table" or ANY_PROVIDER in setting.name:
            continue
        # Our own name overrides the aliases.
        for name in (*reversed(setting.aliases), variable_name(setting)):
            if environ.get(name):
                _add_value(layer, setting, environ[name], name, findings)
    for name, setting in _provider_variables(environ, ids):
        _add_value(layer, setting, environ[name], name, findings)
    return layer


def _provider_variables(environ: Mapping[str, str], ids: Iterable[str]) -> Iterator[tuple[str, Setting]]:
    by_spelling = {id.upper().replace("-", "_"): id for id in ids}
    for name in environ:
        if not name.startswith(_PROVIDERS) or not environ[name]:
            continue
        for field in ("base_url", "api_key", "model"):
            spelling = name.removeprefix(_PROVIDERS).removesuffix(f"_{field.upper()}")
            if name == f"{_PROVIDERS}{spelling}_{field.upper()}" and (
                setting := find_setting(f"providers.{by_spelling.get(spelling, spelling.lower())}.{field}")
            ):
                yield name, setting


def flag_layer(flags: Mapping[str, object], findings: SettingsDiagnostics) -> Layer:
    """What flags set, by key. Later ones are stronger; None sets nothing."""
    layer: Layer = {}
    for name, raw in flatten(flags):
        setting = find_setting(name)
        if raw is None:
            continue
        if setting is None:
            _report_unknown_flag(name, findings)
        elif not setting.per_conversation:
            findings.problems.append(f"{FLAG}: '{name}' may only be set in config.toml or by {variable_name(setting)}")
        else:
            _add_value(layer, setting, raw, FLAG, findings)
    return layer


def _report_unknown_flag(name: str, findings: SettingsDiagnostics) -> None:
    if name in UNSUPPORTED_KEYS:
        findings.notes.append(f"{FLAG}: '{name}' is not supported yet")
    elif not findings.is_full:
        findings.problems.append(f"{FLAG}: unknown key '{printable_key(name)}'{unknown_key_hint(name)}")


def _add_value(layer: Layer, setting: Setting, raw: object, origin: str, findings: SettingsDiagnostics) -> None:
    try:
        layer[setting.name] = SetValue(parse_and_check(setting, raw), origin)
    except BadInput as error:
        findings.problems.append(f"{origin}: {error}")
