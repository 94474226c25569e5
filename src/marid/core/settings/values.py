"""The settings as a value: frozen, one section per part of the program. `core.settings.schema` has the keys."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from marid.core.errors import BadInput

if TYPE_CHECKING:
    from marid.core.conversation.records import StorageSettings

MAX_SETTINGS_BYTES = 1 << 18
_STORAGE_MINIMUMS = MappingProxyType(
    {"partition_max_entries": 1, "partition_max_age_seconds": 60, "partition_max_tokens": 1, "bytes_per_token": 1}
)


class ContextSettings(NamedTuple):
    """How a project context is assembled."""

    max_size_mb: float = 100.0
    encoding: str = "o200k_base"
    mask: bool = True
    rules: tuple[str, ...] = ()
    clone_host: str = "https://github.com/"


class ToolSettings(NamedTuple):
    """What tools may touch and do, and which of them a model is offered."""

    roots: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    outside: str = "deny"
    policy: Mapping[str, object] = MappingProxyType({})
    project_policy: Mapping[str, object] = MappingProxyType({})
    """What the project's own file adds to the policy; it can only make it stricter."""
    no_tool_calls: bool = False
    selection: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """`include`, `exclude`, `exclude_categories`: the table `tools`."""


class WebSettings(NamedTuple):
    """Where web tools search, and which hosts they may reach."""

    search_url: str = "https://html.duckduckgo.com/html/"
    net_allow: tuple[str, ...] = ()


class ModelSettings(NamedTuple):
    """Which model answers, who provides it, and with which parameters."""

    provider: str = ""
    name: str = ""
    """The key `model`."""
    api_key: str = ""
    base_url: str = ""
    providers: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    """`base_url`, `api_key` and `model` of further providers, by id."""
    window: int = 0
    """The model's context window according to models.toml, tools and system prompt included."""
    api: Mapping[str, object] = MappingProxyType({})
    """What differs from `core.model_io.Parameters`, whose fields are the keys; `reasoning` is a table in it."""

    def __repr__(self) -> str:
        """Hide the keys, which would otherwise appear in every traceback."""
        hidden = {"api_key": "(set)" if self.api_key else "", "providers": tuple(self.providers)}
        fields = (f"{name}={hidden.get(name, value)!r}" for name, value in zip(self._fields, self, strict=True))
        return f"ModelSettings({', '.join(fields)})"


class ConversationSettings(NamedTuple):
    """How a round runs, and how a conversation is stored."""

    username: str = "user"
    context_window_limit: int = 0
    warn_threshold_percent: float = 80.0
    fuel: int = 30
    fuel_empty_response_cost: int = 15
    fallback_tool: str = "call_user"
    reflection_enabled: bool = True
    reflection_character_limit: int = 10_000
    lock_heartbeat_seconds: float = 30.0
    storage: Mapping[str, object] = MappingProxyType({})
    """What differs from `core.conversation.records.StorageSettings`, whose fields are the keys."""


class DisplaySettings(NamedTuple):
    """How a terminal shows answers: the keys of cli.toml."""

    render_markdown: bool = True
    verbose: bool = False
    hide_tool_calls: bool = False
    show_thinking: bool = False
    markdown_style: Mapping[str, str] = MappingProxyType({})


class Settings(NamedTuple):
    """The settings in force."""

    home: str = ""
    context: ContextSettings = ContextSettings()
    tools: ToolSettings = ToolSettings()
    web: WebSettings = WebSettings()
    model: ModelSettings = ModelSettings()
    conversation: ConversationSettings = ConversationSettings()
    display: DisplaySettings = DisplaySettings()


# Fields of a section whose key in files differs from their name.
_KEYS = MappingProxyType(
    {("model", "name"): "model", ("model", "window"): "model_window", ("tools", "selection"): "tools"}
)


def make_settings(home: str = "", **values: object) -> Settings:
    """Settings from values by top-level key; the rest are the defaults."""
    sections: dict[str, Any] = {}
    for section, default in Settings._field_defaults.items():
        if section == "home":
            continue
        keys = {field: _KEYS.get((section, field), field) for field in default._fields}
        own = {field: values.pop(key) for field, key in keys.items() if key in values}
        sections[section] = default._replace(**own)
    if values:
        raise KeyError(*values)
    return Settings(home, **sections)


def settings_by_key(settings: Settings) -> dict[str, Any]:
    """Every value by its top-level key."""
    return {
        _KEYS.get((section, field), field): value
        for section, part in zip(Settings._fields[1:], cast("tuple[Any, ...]", settings[1:]), strict=True)
        for field, value in zip(part._fields, part, strict=True)
    }


def storage_settings(settings: Settings) -> "StorageSettings":
    """The table `storage` and the heartbeat, with values that are too small raised to the smallest valid ones."""
    from marid.core.conversation.records import StorageSettings  # imported when used: not needed to start

    known = dict(cast("Mapping[str, Any]", settings.conversation.storage))
    known |= {name: max(known[name], least) for name, least in _STORAGE_MINIMUMS.items() if name in known}
    return StorageSettings(lock_heartbeat_seconds=settings.conversation.lock_heartbeat_seconds)._replace(**known)


class ResolvedSettings(NamedTuple):
    """The settings in force for one conversation, or for none, and notes about the files for the user.

    `origins` names the file, variable or flag of each key that is not a default; several, separated by commas, if the
    value was merged.
    """

    settings: Settings
    origins: Mapping[str, str] = MappingProxyType({})
    notes: tuple[str, ...] = ()


class BadSettingsFile(BadInput):
    """A settings file is wrong, so another request would fail as well."""


class SettingsFiles(NamedTuple):
    """The paths of the settings files; "" where none applies."""

    config: str
    models: str
    project: str
    local: str
    cli: str
    own_cli: str


def settings_files(home: str, project: str, own: str = "") -> SettingsFiles:
    """The settings files, whether they exist or not. `own` is the folder of a conversation, or ""."""
    return SettingsFiles(
        config=f"{home}/config.toml",
        models=f"{home}/models.toml",
        project=project and f"{project}/.marid.toml",
        local=own and f"{own}/local.toml",
        cli=f"{home}/cli.toml",
        own_cli=own and f"{own}/cli.toml",
    )
