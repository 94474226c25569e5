"""The request: read from stdin, checked, and kept in a session with its output."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, cast

from marid.app.app import RequestScope
from marid.app.conversation_settings import conversation_name
from marid.app.conversations import conversation_exists
from marid.app.rounds import RoundRequest
from marid.app.tool_session import ToolAccess
from marid.core.errors import BadInput
from marid.core.events import Notice
from marid.core.settings.schema import ADDITIVE_LISTS, EXCLUSIVE_SETTINGS, find_setting
from marid.core.settings.validation import flatten, parse_text
from marid.faces.flags import parse_log_names
from marid.faces.json_input import parse_json, type_name
from marid.faces.pipe.input_schema import check_input, unknown_key_notes
from marid.faces.pipe.json_lines import JsonLineWriter

MAX_BYTES = 64 << 20

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


class JsonSession(NamedTuple):
    """One request: the app, the parsed request, what tools may access, and the output."""

    scope: RequestScope
    request: JsonRequest
    access: ToolAccess
    writer: JsonLineWriter

    def conversation_for(self, field: str) -> str:
        """The name of the conversation in a field of the command, or else that of the request."""
        return conversation_name(self.scope, self.request.conversation_for(field))

    def existing_conversation(self, field: str) -> str:
        """As `conversation_for`; unless it is that of the request, it must exist. Raises: NotFound."""
        name = self.conversation_for(field)
        conversation_exists(self.scope, name, unused=self.request.context)
        return name

    def note(self, text: str) -> None:
        """Write a note event."""
        self.writer.write_event(Notice(text))

    def round_request(self, prompt: str, conversation: str) -> RoundRequest:
        """A round with the options of this request."""
        force, debug = self.request.force, self.request.debug
        return RoundRequest(prompt=prompt, conversation=conversation, access=self.access, force=force, debug=debug)


def read_object(stream: BinaryIO | None, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """The JSON object on the stream, which is read to its end.

    Raises: BadInput for anything but exactly one JSON object in UTF-8 of at most `max_bytes`.
    """
    try:
        data = stream.read(max_bytes + 1) if stream is not None else b""
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read stdin: {error}") from error
    if len(data) > max_bytes:
        raise BadInput(f"stdin is larger than {max_bytes:,} bytes")
    if not data.strip():
        raise BadInput("stdin is empty; send one JSON object (--json-schema describes it)")
    try:
        value = parse_json(data.decode("utf-8-sig"), "stdin")
    except UnicodeDecodeError as error:
        raise BadInput(f"stdin is not UTF-8: {error.reason} at byte {error.start}") from error
    if not isinstance(value, dict):
        raise BadInput(f"stdin must be one JSON object, not {type_name(value)}")
    return cast("dict[str, Any]", value)


def parse_request(given: Mapping[str, Any]) -> JsonRequest:
    """Raises: BadInput for what the schema does not allow."""
    check_input(given)
    command: str | dict[str, dict[str, Any]] = given["command"]
    name, fields = (command, dict[str, Any]()) if isinstance(command, str) else next(iter(command.items()))
    flags: Mapping[str, Any] = given.get("flags") or {}
    overrides: Mapping[str, str] = given.get("overrides") or {}
    return JsonRequest(
        command=name,
        fields=fields,
        context=given["context"],
        settings=merge_settings(given.get("config") or {}, overrides),
        debug=parse_log_names(flags.get("debug", ())),
        force=_force(flags),
        # 2.0 is a whole number in JSON.
        destroy_at=None if (at := flags.get("destroy_at")) is None else int(at),
        destroy_after=None if (after := flags.get("destroy_after_seconds_inactive")) is None else int(after),
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


def _force(flags: Mapping[str, Any]) -> str:
    agent, user = flags.get("force_call_agent", False), flags.get("force_call_user", False)
    if agent and user:
        raise BadInput("'flags.force_call_agent' and 'flags.force_call_user' exclude each other")
    return "agent" if agent else "user" if user else ""
