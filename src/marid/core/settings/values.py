"""Every setting there is. Read once in bootstrap, frozen, passed as a value."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.core.errors import BadInput


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
    """The settings in force, one section per part of the program. SETTINGS says what each key means."""

    home: str = ""
    context: ContextSettings = ContextSettings()
    tools: ToolSettings = ToolSettings()
    web: WebSettings = WebSettings()
    model: ModelSettings = ModelSettings()
    conversation: ConversationSettings = ConversationSettings()
    display: DisplaySettings = DisplaySettings()


# Fields whose key in files is another one: the key's own name would repeat or hide that of the section.
_KEYS = MappingProxyType(
    {("model", "name"): "model", ("model", "window"): "model_window", ("tools", "selection"): "tools"}
)


def make_settings(home: str = "", **values: object) -> Settings:
    """Sort values by key, as files have them, into their sections; the rest are the defaults."""
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
    """Every value under the key that files have for it."""
    return {
        _KEYS.get((section, field), field): value
        for section, part in zip(Settings._fields[1:], cast("tuple[Any, ...]", settings[1:]), strict=True)
        for field, value in zip(part._fields, part, strict=True)
    }


class ResolvedSettings(NamedTuple):
    """The settings in force for one conversation, or for none, and where each came from.

    `origins` is by key, with dots for the keys of tables: `default`, a file's path, a variable's name or a flag;
    several of them, with commas, where they were put together.
    `notes` are what a person should know about the files.
    """

    settings: Settings
    origins: Mapping[str, str]
    notes: tuple[str, ...] = ()


class BadSettingsFile(BadInput):
    """A settings file makes no sense; whoever asks cannot change the request, only the file."""


class SettingsFiles(NamedTuple):
    """The settings files by kind; "" where there can be none."""

    config: str
    models: str
    project: str
    local: str
    cli: str
    own_cli: str


def settings_files(home: str, project: str, own: str = "") -> SettingsFiles:
    """The settings files to read, whether they exist or not. `own` is the settings folder of a conversation, or ""."""
    return SettingsFiles(
        config=f"{home}/config.toml",
        models=f"{home}/models.toml",
        project=project and f"{project}/.marid.toml",
        local=own and f"{own}/local.toml",
        cli=f"{home}/cli.toml",
        own_cli=own and f"{own}/cli.toml",
    )


class Setting(NamedTuple):
    """One setting as files, environment and docs know it; the keys of tables have names with dots.

    `tighten` says what a project's own file may do to it: "" nothing, "lower" a number, "on" a switch, "add" to a list,
    "exclude" more tools, "stricter" verdicts. `aliases` are other names in the environment, `keys` those in files.
    """

    name: str
    meaning: str
    tighten: str = ""
    aliases: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    separator: str = ""
    """Between the items of a list in the environment, where it is not the one between paths."""
    kind: str = ""
    """What values it has: switch, whole, number, text, line, list, table and more; "" is the default's kind."""
    minimum: float | None = None
    """The smallest value; None is above 0 for a number, and 0 for a whole one."""
    maximum: float | None = None
    zero_is_unlimited: bool = False
    """Whether 0 means that there is no limit."""
    secret: bool = False
    per_conversation: bool = True
    """Whether a conversation's own file and flags may set it; else only config.toml and the environment."""


SETTINGS = (
    Setting(
        "max_size_mb",
        "most megabytes of content that one context may hold",
        "lower",
        ("JINNI_MAX_SIZE_MB",),
        per_conversation=False,
    ),
    Setting("encoding", "the encoding that tokens are counted in: o200k_base or cl100k_base", per_conversation=False),
    Setting("mask", "mask keys and tokens before anything leaves", "on", per_conversation=False),
    Setting(
        "rules", "context rules that count everywhere, as strong as a --config file", "add", per_conversation=False
    ),
    Setting("clone_host", "where owner/name is cloned from", per_conversation=False),
    Setting("roots", "folders that tools may touch; none: the project. The first one resolves relative paths"),
    Setting(
        "files",
        "single files that tools may touch besides, each only itself; a folder here is one more root",
        keys=("file_tools_allowed_paths",),
    ),
    Setting(
        "outside",
        "what becomes of a path outside of the roots: deny, or ask (which grants it to one conversation)",
        "stricter",
        choices=("ask", "deny"),
    ),
    Setting("policy", "a table: allow, ask or deny by effect or tool, and `hosts` that need no question", "stricter"),
    Setting("search_url", "the search page that web_search asks", per_conversation=False),
    Setting(
        "net_allow",
        "hosts or host:port pairs that may be reached although they are private or of another port (`,` between them)",
        separator=",",
        per_conversation=False,
    ),
    Setting("provider", "who is asked: offline, openrouter, openai, anthropic, google, lmstudio, ollama, or your own"),
    Setting(
        "model",
        "the model that is asked, or an alias of models.toml; provider:model names both",
        aliases=("CHIBI_MODEL",),
    ),
    Setting("api_key", "the provider's key", aliases=("CHIBI_API_KEY",), secret=True),
    Setting("base_url", "where the provider is, with the /v1; alone it means an OpenAI-compatible service", kind="url"),
    Setting("providers", "more providers: a table for each, by id", kind="table"),
    Setting("username", "what the user is called in a conversation: a line of text", kind="line"),
    Setting(
        "context_window_limit",
        "most tokens of what is said, in a request; 0: what is known of the model, for tools and system prompt too",
        "lower",
        zero_is_unlimited=True,
    ),
    Setting(
        "warn_threshold_percent", "how full the window is, in percent, when a warning comes", minimum=0, maximum=100
    ),
    Setting("no_tool_calls", "offer the model no tools", "on"),
    Setting(
        "fuel",
        "model requests in one round; 0: no limit",
        "lower",
        keys=("max_recursion_depth",),
        zero_is_unlimited=True,
    ),
    Setting("fuel_empty_response_cost", "what an empty reply of the model costs of it"),
    Setting(
        "fallback_tool",
        "who has the word after an answer without a call that says so: call_user ends the round, call_agent goes on",
        choices=("call_user", "call_agent"),
    ),
    Setting("reflection_enabled", "let the model keep a reflection, which all conversations share"),
    Setting("reflection_character_limit", "most characters of the reflection", "lower"),
    Setting(
        "lock_heartbeat_seconds",
        "how often a process that works in a conversation says that it is there",
        per_conversation=False,
    ),
    Setting("tools", "which tools a model is offered", "exclude", kind="table"),
    Setting("storage", "when the transcript begins a new partition", kind="table"),
    Setting("api", "how a model should answer", kind="table"),
)

DISPLAY_SETTINGS = (
    Setting("render_markdown", "render answers on a terminal; else they are plain text"),
    Setting("verbose", "show what happens beside the answer"),
    Setting("hide_tool_calls", "do not show which tools are called, even when verbose"),
    Setting("show_thinking", "show what the model thinks, on stderr"),
    Setting("markdown_style", "colours of rendered answers", kind="table"),
)

# Keys that files of a Chibi home may hold for parts that are not built yet: told, not refused.
MAX_SETTINGS_BYTES = 1 << 18
"""Of a file of settings."""

_UNSUPPORTED_KEYS = """
    auto_cleanup_cache auto_compact auto_compact_threshold image rolling_compact_drop_percentage subagent_cost_tier
    tool_cache_max_age_days tool_cache_preview_chars tool_output_cache_threshold url_policy vfs
"""
UNSUPPORTED_KEYS = frozenset(_UNSUPPORTED_KEYS.split())
# Keys that only Chibi's own files have.
CHIBI_KEYS = UNSUPPORTED_KEYS | {"file_tools_allowed_paths", "max_recursion_depth"}

# The providers that need no URL.
PROVIDERS = ("offline", "openai", "openrouter", "lmstudio", "ollama", "anthropic", "google")
