"""The settings in force as a person reads them: value and origin, without secrets."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple, cast

from marid.core.model_io import Parameters
from marid.core.settings.schema import ANY_PROVIDER, SETTINGS, Setting
from marid.core.settings.values import ResolvedSettings, settings_by_key, storage_settings

SET_LABEL, UNSET_LABEL = "(set)", "(unset)"
DEFAULT_ORIGIN = "default"


class EffectiveSetting(NamedTuple):
    """One setting: `value` is plain (None: unset; of a secret only whether it is set), `text` is its form in TOML."""

    key: str
    value: Any
    text: str
    origin: str


def effective_settings(resolved: ResolvedSettings) -> tuple[EffectiveSetting, ...]:
    """All settings in the order of the schema, keys of tables by their names with dots."""
    values = settings_by_key(resolved.settings)
    values["storage"] = storage_settings(resolved.settings)._asdict()
    default, api = asdict(Parameters()), resolved.settings.model.api
    values["api"] = {**default, **api, "reasoning": {**default["reasoning"], **cast("Any", api.get("reasoning", {}))}}
    rows = _shown_settings(values)
    return tuple(_effective_setting(row.name, _look_up(row.name, values), resolved, secret=row.secret) for row in rows)


def _shown_settings(values: Mapping[str, Any]) -> Iterator[Setting]:
    for setting in SETTINGS:
        if setting.name == "providers":
            fields = [one for one in SETTINGS if ANY_PROVIDER in one.name]
            for id in values["providers"]:
                yield from (one._replace(name=one.name.replace(ANY_PROVIDER, id)) for one in fields)
        elif setting.kind != "table" and ANY_PROVIDER not in setting.name:
            yield setting
        if setting.name == "policy" and values["project_policy"]:
            yield Setting("project_policy", "what the project adds to the policy", "policy")


def _look_up(name: str, values: Any) -> Any:
    """The value of a name with dots; None if it is unset."""
    for part in name.split("."):
        values = values.get(part) if values is not None else None
    return values


def _effective_setting(name: str, raw: object, resolved: ResolvedSettings, *, secret: bool) -> EffectiveSetting:
    origin = resolved.origins.get(name, DEFAULT_ORIGIN)
    if secret:
        word = SET_LABEL if raw else UNSET_LABEL
        return EffectiveSetting(name, word, word, origin)
    value = _hide_credentials(_to_plain(raw))
    empty = value is None or (value == "" and origin == DEFAULT_ORIGIN)
    return EffectiveSetting(name, None if empty else value, UNSET_LABEL if empty else toml_text(value), origin)


def printable_value(setting: Setting | None, value: object) -> str:
    """A value that was just set, for a message; tables, which may hold keys, are not shown."""
    if setting is None or setting.secret or setting.kind == "table" or not isinstance(value, str | int | float):
        return "set"
    return str(_hide_credentials(value))


def _to_plain(value: Any) -> Any:
    match value:
        case Mapping():
            table = cast("Mapping[str, Any]", value)
            return {key: _to_plain(inner) for key, inner in table.items()}
        case tuple() | list():
            return [_to_plain(inner) for inner in cast("list[Any]", value)]
        case _:
            return value


def _hide_credentials(value: Any) -> Any:
    """A URL without its password and its query, which may be a key too."""
    if not isinstance(value, str) or "://" not in value:
        return value
    scheme, _, rest = value.partition("://")
    place, slash, path = rest.partition("/")
    user, at, host = place.rpartition("@")
    path, question, _ = path.partition("?")
    return f"{scheme}://{'***@' if at and user else ''}{host}{slash}{path}{'?***' if question else ''}"


def toml_text(value: Any) -> str:
    """A plain value as TOML writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value).removesuffix(".0")
        case str():
            return f'"{"".join(map(_escape_char, value))}"'
        case list():
            return f"[{', '.join(map(toml_text, cast('list[Any]', value)))}]"
        case dict():
            table = cast("dict[str, Any]", value)
            pairs = (f"{_toml_key(key)} = {toml_text(inner)}" for key, inner in table.items() if inner is not None)
            return f"{{{', '.join(pairs)}}}"
        case _:
            return str(value)


def _toml_key(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() and key.isascii() else toml_text(key)


def _escape_char(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\U{ord(char):08X}"
