"""The request as a value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from marid.core.errors import BadInput
from marid.core.settings.schema import ADDITIVE_LISTS, EXCLUSIVE_SETTINGS, find_setting
from marid.core.settings.validation import flatten, parse_text
from marid.faces.flags import parse_log_names
from marid.faces.pipe.config_schema import config_schema
from marid.faces.pipe.input_schema import check_input, unknown_key_notes

_SECRET = "api_key"  # noqa: S105 - the name of a setting


@dataclass(frozen=True, kw_only=True)
class JsonRequest:
    """A command with its fields, its conversation and its options.

    `settings` are those of `config` overridden by `overrides`. `force` is "user", "agent" or "".
    """

    command: str
    fields: Mapping[str, Any]
    context: str
    settings: Mapping[str, object]
    debug: frozenset[str]
    force: str
    destroy_at: int | None
    destroy_after: int | None
    trust: bool
    home: str
    project_root: str
    notes: tuple[str, ...] = ()

    def conversation_for(self, field: str) -> str:
        """The conversation in a field of the command, or else that of the request."""
        return self.fields.get(field) or self.context


def parse_request(given: Mapping[str, Any]) -> JsonRequest:
    """Raises: BadInput for what the schema does not allow."""
    check_input(given, config_schema())
    name, fields = _split_command(given["command"])
    flags: Mapping[str, Any] = given.get("flags") or {}
    overrides: Mapping[str, str] = given.get("overrides") or {}
    return JsonRequest(
        command=name,
        fields=fields,
        context=given["context"],
        settings=merge_settings(given.get("config") or {}, overrides),
        debug=parse_log_names(flags.get("debug", ())),
        force=_force(flags),
        destroy_at=_optional_int(flags.get("destroy_at")),
        destroy_after=_optional_int(flags.get("destroy_after_seconds_inactive")),
        trust=flags.get("trust", False),
        home=given.get("home") or "",
        project_root=given.get("project_root") or "",
        notes=unknown_key_notes(given),
    )


def find_secrets(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The API keys anywhere in a request, which need not be valid."""
    return tuple(str(value) for name, value in _leaves(given) if name.rpartition(".")[2] == _SECRET and value)


def _leaves(table: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(cast("dict[str, Any]", value))
        else:
            yield name, value


def merge_settings(config: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, object]:
    """`config` overridden by `overrides`; lists of excluded tools are joined, as between files."""
    found = {key: _normalize_number(key, value) for key, value in flatten(config)}
    weaker = {*overrides, *(EXCLUSIVE_SETTINGS[key] for key in overrides if key in EXCLUSIVE_SETTINGS)}
    kept = {key: value for key, value in found.items() if key not in weaker}
    return {**kept, **{key: _extend_list(key, found.get(key), text) for key, text in overrides.items()}}


def _normalize_number(key: str, value: object) -> object:
    """2.0 is a whole number in JSON."""
    setting = find_setting(key)
    is_whole = setting is not None and setting.kind == "whole"
    return int(value) if is_whole and isinstance(value, float) and value.is_integer() else value


def _extend_list(key: str, before: object, text: str) -> object:
    setting = find_setting(key)
    if setting is None or key not in ADDITIVE_LISTS or not isinstance(before, list):
        return text
    more = parse_text(setting, text)
    return [*cast("list[object]", before), *cast("list[object]", more)] if isinstance(more, list) else text


def _split_command(command: Any) -> tuple[str, Mapping[str, Any]]:
    return (command, {}) if isinstance(command, str) else next(iter(command.items()))


def _force(flags: Mapping[str, Any]) -> str:
    agent, user = flags.get("force_call_agent", False), flags.get("force_call_user", False)
    if agent and user:
        raise BadInput("'flags.force_call_agent' and 'flags.force_call_user' exclude each other")
    return "agent" if agent else "user" if user else ""


def _optional_int(value: float | None) -> int | None:
    return None if value is None else int(value)
