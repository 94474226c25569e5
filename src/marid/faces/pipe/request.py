"""What is asked for, as a value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from marid.core.checks import kind_of, parsed
from marid.core.errors import BadInput
from marid.core.fields import ADDED, RIVALS, flattened, setting_of
from marid.core.logs import logs_of
from marid.faces.pipe.settings_shape import config_shape
from marid.faces.pipe.shape import check_input, strangers

_SECRET = "api_key"  # noqa: S105 - the name of a setting


@dataclass(frozen=True, kw_only=True)
class Request:
    """A command with its fields, the conversation it is about, and the conditions.

    `settings` are those of `config`, then those of `overrides`, which are stronger, by key. `force` is "user", "agent"
    or nothing. `notes` are what whoever asks should know about the request.
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

    def about(self, field: str) -> str:
        """The conversation that a command names in `field`, else the one of the whole request."""
        return self.fields.get(field) or self.context


def request_of(given: Mapping[str, Any]) -> Request:
    """Raises: BadInput for what the schema does not allow, before anything is made."""
    check_input(given, config_shape())
    name, fields = _command(given["command"])
    flags: Mapping[str, Any] = given.get("flags") or {}
    overrides: Mapping[str, str] = given.get("overrides") or {}
    return Request(
        command=name,
        fields=fields,
        context=given["context"],
        settings=settings_of(given.get("config") or {}, overrides),
        debug=logs_of(flags.get("debug", ())),
        force=_force(flags),
        destroy_at=_whole(flags.get("destroy_at")),
        destroy_after=_whole(flags.get("destroy_after_seconds_inactive")),
        trust=flags.get("trust", False),
        home=given.get("home") or "",
        project_root=given.get("project_root") or "",
        notes=strangers(given),
    )


def secrets_of(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys that a request brings, wherever they stand in its settings, which need not make sense."""
    return tuple(str(value) for name, value in _leaves(given) if name.rpartition(".")[2] == _SECRET and value)


def _leaves(table: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(cast("dict[str, Any]", value))
        else:
            yield name, value


def settings_of(config: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, object]:
    """Those of `config`, then the stronger ones; lists of what is excluded add up, as those of files do."""
    found = {key: _plain(key, value) for key, value in flattened(config)}
    weaker = {*overrides, *(RIVALS[key] for key in overrides if key in RIVALS)}
    kept = {key: value for key, value in found.items() if key not in weaker}
    return {**kept, **{key: _added(key, found.get(key), text) for key, text in overrides.items()}}


def _plain(key: str, value: object) -> object:
    """JSON knows only numbers: one without a fraction is whole, however it is written."""
    setting = setting_of(key)
    is_whole = setting is not None and kind_of(setting) == "whole"
    return int(value) if is_whole and isinstance(value, float) and value.is_integer() else value


def _added(key: str, before: object, text: str) -> object:
    setting = setting_of(key)
    if setting is None or key not in ADDED or not isinstance(before, list):
        return text
    more = parsed(setting, text)
    return [*cast("list[object]", before), *cast("list[object]", more)] if isinstance(more, list) else text


def _command(command: Any) -> tuple[str, Mapping[str, Any]]:
    return (command, {}) if isinstance(command, str) else next(iter(command.items()))


def _force(flags: Mapping[str, Any]) -> str:
    agent, user = flags.get("force_call_agent", False), flags.get("force_call_user", False)
    if agent and user:
        raise BadInput("'flags.force_call_agent' and 'flags.force_call_user' exclude each other")
    return "agent" if agent else "user" if user else ""


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
