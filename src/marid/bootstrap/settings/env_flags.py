"""Settings from outside of files: variables and flags."""

from collections.abc import Iterable, Iterator, Mapping

from marid.bootstrap.settings.layer import SettingsDiagnostics, SettingsLayer, empty_layer
from marid.core.errors import BadInput
from marid.core.settings.schema import (
    ANY_PROVIDER,
    DISPLAY_BY_NAME,
    SETTINGS_BY_NAME,
    find_display_setting,
    find_setting,
    flatten,
    suggestion,
)
from marid.core.settings.validation import parse_and_check, printable_key
from marid.core.settings.values import UNSUPPORTED_KEYS, Setting

FLAG = "flag"
_PREFIX = "MARID_"
_PROVIDERS = f"{_PREFIX}PROVIDERS_"


def variable_name(setting: Setting) -> str:
    """Our own name of a setting in the environment."""
    return f"{_PREFIX}{setting.name.upper().replace('.', '_')}"


def environment_layers(
    environ: Mapping[str, str], ids: Iterable[str], findings: SettingsDiagnostics
) -> tuple[SettingsLayer, SettingsLayer]:
    """What variables set, and what they set of the display; an empty one sets nothing. `ids` are known providers."""
    settings, display = empty_layer(), empty_layer()
    rows = (
        *((one, settings) for one in _settable_rows(SETTINGS_BY_NAME)),
        *((one, display) for one in _settable_rows(DISPLAY_BY_NAME)),
    )
    for setting, layer in rows:
        # Our own name is stronger than the documents' names.
        names = [name for name in (variable_name(setting), *setting.aliases) if environ.get(name)]
        for name in reversed(names):
            _set_typed(layer, setting, environ[name], name, findings)
    for name, setting in _provider_variables(environ, ids):
        _set_typed(settings, setting, environ[name], name, findings)
    return settings, display


def _settable_rows(rows: Mapping[str, Setting]) -> Iterator[Setting]:
    return (one for one in rows.values() if one.kind != "table" and ANY_PROVIDER not in one.name)


def _provider_variables(environ: Mapping[str, str], ids: Iterable[str]) -> Iterator[tuple[str, Setting]]:
    spelled = {id.upper().replace("-", "_"): id for id in ids}
    for name in environ:
        if not name.startswith(_PROVIDERS) or not environ[name]:
            continue
        for field in ("base_url", "api_key", "model"):
            id, found, _ = name.removeprefix(_PROVIDERS).rpartition(f"_{field.upper()}")
            if found and id and name.endswith(f"_{field.upper()}"):
                setting = find_setting(f"providers.{spelled.get(id, id.lower())}.{field}")
                if setting:
                    yield name, setting


def flag_layers(flags: Mapping[str, object], findings: SettingsDiagnostics) -> tuple[SettingsLayer, SettingsLayer]:
    """What flags set, by key, and what they set of the display. Later ones are stronger; None sets nothing."""
    settings, display = empty_layer(), empty_layer()
    for name, raw in flatten(flags):
        shown = find_display_setting(name)
        setting = shown or find_setting(name)
        if raw is None:
            continue
        if setting is None:
            _report_unknown_flag(name, findings)
        elif not setting.per_conversation:
            place = f"config.toml or {variable_name(setting)}"
            findings.problems.append(f"{FLAG}: '{name}' may only be set by {place}")
        else:
            _set_typed(display if shown else settings, setting, raw, FLAG, findings)
    return settings, display


def _report_unknown_flag(name: str, findings: SettingsDiagnostics) -> None:
    if name in UNSUPPORTED_KEYS:
        findings.notes.append(f"{FLAG}: '{name}' is not used yet")
    elif not findings.is_full:
        told = suggestion(name, (*SETTINGS_BY_NAME, *DISPLAY_BY_NAME))
        findings.problems.append(f"{FLAG}: unknown key '{printable_key(name)}'{told}")


def _set_typed(layer: SettingsLayer, setting: Setting, raw: object, origin: str, findings: SettingsDiagnostics) -> None:
    try:
        layer.set_value(setting.name, parse_and_check(setting, raw), origin)
    except BadInput as error:
        findings.problems.append(f"{origin}: {error}")
