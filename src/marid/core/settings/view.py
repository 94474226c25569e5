"""Every setting in force as a person reads it: its value, where it came from, and never a secret."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple, cast

from marid.core.model_io import Parameters
from marid.core.settings.schema import ANY_PROVIDER, API, PROVIDER, STORAGE, STYLE, TOOLS
from marid.core.settings.storage import storage_settings
from marid.core.settings.values import DISPLAY_SETTINGS, SETTINGS, ResolvedSettings, Setting, settings_by_key

SET_LABEL, UNSET_LABEL = "(set)", "(unset)"
DEFAULT_ORIGIN = "default"


class EffectiveSetting(NamedTuple):
    """One setting: `value` is plain (None: unset; of a secret only whether it is set), `text` is its form in TOML."""

    key: str
    value: Any
    text: str
    origin: str


def effective_settings(resolved: ResolvedSettings) -> tuple[EffectiveSetting, ...]:
    """All of them, the keys of tables by their names with dots."""
    values = settings_by_key(resolved.settings)
    values["storage"] = storage_settings(resolved.settings)._asdict()
    values["api"] = _merge_tables(asdict(Parameters()), resolved.settings.model.api)
    rows = _setting_rows((*SETTINGS, *DISPLAY_SETTINGS), values)
    return tuple(_effective_setting(name, value, resolved, secret=secret) for name, value, secret in rows)


def _setting_rows(settings: tuple[Setting, ...], values: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    for setting in settings:
        value = values[setting.name]
        match setting.name:
            case "providers":
                for id in value:
                    yield from _table_rows(
                        tuple(one._replace(name=one.name.replace(ANY_PROVIDER, id)) for one in PROVIDER), values
                    )
            case "tools" | "storage" | "api" | "markdown_style" as table:
                yield from _table_rows({"tools": TOOLS, "storage": STORAGE, "api": API}.get(table, STYLE), values)
            case "policy":
                yield "policy", value, False
                if values["project_policy"]:
                    yield "project_policy", values["project_policy"], False
            case _:
                yield setting.name, value, setting.secret


def _table_rows(rows: tuple[Setting, ...], values: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    for row in rows:
        if row.kind == "table":
            continue
        value: Any = values
        for part in row.name.split("."):
            value = cast("Mapping[str, Any]", value).get(part)
            if value is None:
                break
        yield row.name, value, row.secret


def _merge_tables(below: dict[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two tables as one, those within them too."""
    inner = {**below["reasoning"], **above.get("reasoning", {})}
    return {**below, **above, "reasoning": inner}


def _effective_setting(name: str, raw: object, resolved: ResolvedSettings, *, secret: bool) -> EffectiveSetting:
    origin = resolved.origins.get(name, DEFAULT_ORIGIN)
    if secret:
        word = SET_LABEL if raw else UNSET_LABEL
        return EffectiveSetting(name, word, word, origin)
    value = _hide_credentials(_to_plain(raw))
    empty = value is None or (value == "" and origin == DEFAULT_ORIGIN)
    return EffectiveSetting(name, None if empty else value, UNSET_LABEL if empty else toml_text(value), origin)


def printable_value(setting: Setting | None, value: object) -> str:
    """What may be said of a value that somebody has given, as it was given: of tables, which may hold keys, nothing."""
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
    """Without the password that an address may have, and without what is asked there: that may be a key too."""
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
