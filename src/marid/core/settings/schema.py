"""Every setting: its key, its meaning, what values it takes and where it may be set. Imported when something is set.

Files, variables, flags, `marid config`, the JSON schema of `config`, completion and the docs are made from this table.
"""

from types import MappingProxyType
from typing import NamedTuple

from marid.core.suggestions import close_matches, did_you_mean


class Setting(NamedTuple):
    """One setting. A key within a table has a name with dots."""

    name: str
    meaning: str
    kind: str = "text"
    """Which values it takes: a key of `validation.CHECKS`, or "table"."""
    tighten: str = ""
    """What a project's own file may do: "lower" a number, "on" a switch, "add" to a list, "exclude" more tools,
    "stricter" verdicts, "" nothing."""
    aliases: tuple[str, ...] = ()
    """Other names in the environment."""
    keys: tuple[str, ...] = ()
    """Other names in files."""
    choices: tuple[str, ...] = ()
    separator: str = ""
    """Between the items of a list in the environment; "" is the separator of paths."""
    minimum: float | None = None
    """None: above 0 for a number, 0 for a whole number."""
    maximum: float | None = None
    zero_is_unlimited: bool = False
    secret: bool = False
    per_conversation: bool = True
    """Whether a conversation's own file and flags may set it, not only config.toml and the environment."""
    display: bool = False
    """Whether it belongs in cli.toml."""


ANY_PROVIDER = "*"
"""Stands for any id, in the names of keys below `providers`."""
PROVIDERS = ("offline", "openai", "openrouter", "lmstudio", "ollama", "anthropic", "google")
"""The providers that need no URL."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_NOT_SENT = "not sent unless it is set, because some models refuse it"
_STYLES = """
    h1 h2 h3 h4 h5 h6 code_bg code_label bullet table_header_bg table_border blockquote_border think_border hr link_url
    image_marker footnote
"""

SETTINGS = (
    Setting("max_size_mb", "largest context, in megabytes of content", "number", "lower", ("JINNI_MAX_SIZE_MB",),
            per_conversation=False),
    Setting("encoding", "token encoding: o200k_base or cl100k_base", per_conversation=False),
    Setting("mask", "mask keys and tokens in all output", "switch", "on", per_conversation=False),
    Setting("rules", "context rules for every project, as strong as a --config file", "list", "add",
            per_conversation=False),
    Setting("clone_host", "host that owner/name is cloned from", per_conversation=False),
    Setting("roots", "folders that tools may use; default: the project. Relative paths start at the first one", "list"),
    Setting("files", "single files that tools may use as well; a folder here is one more root", "list",
            keys=("file_tools_allowed_paths",)),
    Setting("outside", "verdict on a path outside the roots: deny, or ask (a yes counts for one conversation)",
            tighten="stricter", choices=("ask", "deny")),
    Setting("policy", "a table: allow, ask or deny by effect or tool; `hosts` that need no question; `ask_seconds` "
            "(60) and `plan_limit` (4000 lines) of questions away from the terminal", "policy", "stricter"),
    Setting("search_url", "search page that web_search uses", per_conversation=False),
    Setting("net_allow", "hosts or host:port pairs to reach even if private or on another port (separated by `,`)",
            "list", separator=",", per_conversation=False),
    Setting("provider", "model provider: offline, openrouter, openai, anthropic, google, lmstudio, ollama or your own"),
    Setting("model", "model, or an alias from models.toml; provider:model sets both", aliases=("CHIBI_MODEL",)),
    Setting("api_key", "the provider's API key", aliases=("CHIBI_API_KEY",), secret=True),
    Setting("base_url", "the provider's URL, including /v1; alone it means an OpenAI-compatible service", "url"),
    Setting("providers", "more providers: one table per id", "table"),
    Setting(f"providers.{ANY_PROVIDER}.base_url", "its URL, including /v1", "url"),
    Setting(f"providers.{ANY_PROVIDER}.api_key", "its API key", secret=True),
    Setting(f"providers.{ANY_PROVIDER}.model", "its model, unless another one is chosen"),
    Setting("username", "your name in a conversation: one line of text", "line"),
    Setting("context_window_limit", "most tokens of messages in a request; 0: the model's own limit for all of it",
            "whole", "lower", zero_is_unlimited=True),
    Setting("warn_threshold_percent", "warn when the window is this full, in percent", "number", minimum=0,
            maximum=100),
    Setting("no_tool_calls", "offer the model no tools", "switch", "on"),
    Setting("fuel", "most model requests per round; 0: no limit", "whole", "lower", keys=("max_recursion_depth",),
            zero_is_unlimited=True),
    Setting("fuel_empty_response_cost", "fuel that an empty reply costs", "whole"),
    Setting("fallback_tool", "what an answer without a tool call does: call_user ends the round, call_agent goes on",
            choices=("call_user", "call_agent")),
    Setting("reflection_enabled", "let the model keep a reflection, which all conversations share", "switch"),
    Setting("reflection_character_limit", "most characters of the reflection", "whole", "lower"),
    Setting("lock_heartbeat_seconds", "how often a process that uses a conversation signals that it is alive", "number",
            per_conversation=False),
    Setting("tools", "which tools a model is offered", "table", "exclude"),
    Setting("tools.include", "only these tools", "list", separator=","),
    Setting("tools.exclude", "not these tools", "list", separator=","),
    Setting("tools.exclude_categories", "no tools of these families or effects", "list", separator=","),
    Setting("storage", "when the transcript starts a new partition", "table"),
    Setting("storage.partition_max_entries", "entries per partition, at least 1", "whole"),
    Setting("storage.partition_max_age_seconds", "age in seconds, at least 60", "whole"),
    Setting("storage.partition_max_tokens", "estimated tokens, at least 1", "whole"),
    Setting("storage.bytes_per_token", "bytes per token for that estimate, at least 1", "whole"),
    Setting("storage.enable_bloom_filters", "keep filters so that searches can skip partitions", "switch"),
    Setting("api", "request parameters", "table"),
    Setting("api.temperature", "sampling temperature", "number", minimum=0, maximum=2),
    Setting("api.max_tokens", "most tokens per answer", "whole", minimum=1),
    Setting("api.top_p", "nucleus sampling: the share of probability to sample from", "number", minimum=0, maximum=1),
    Setting("api.stop", "strings that end the answer", "stop", separator=","),
    Setting("api.tool_choice", 'auto, none, required, or one tool: {type = "function", function = {name = "..."}}',
            "tool_choice", choices=("auto", "none", "required")),
    Setting("api.parallel_tool_calls", f"let the model call several tools at once; {_NOT_SENT}", "switch"),
    Setting("api.frequency_penalty", "penalty on tokens by how often they occurred", "number", minimum=-2, maximum=2),
    Setting("api.presence_penalty", "penalty on tokens that occurred at all", "number", minimum=-2, maximum=2),
    Setting("api.seed", "sampling seed, for repeatable answers where the provider supports it", "whole",
            minimum=-(2**63), maximum=2**63 - 1),
    Setting("api.response_format", "a table with `type`: text, json_object, or json_schema with a table `json_schema`",
            "response_format"),
    Setting("api.prompt_caching", "let the provider cache the unchanged start of requests", "switch"),
    Setting("api.reasoning", "how much the model reasons", "table"),
    Setting("api.reasoning.effort", f"{', '.join(EFFORTS[:-1])} or {EFFORTS[-1]}; {_NOT_SENT}", choices=EFFORTS),
    Setting("api.reasoning.max_tokens", "most tokens of reasoning; overrides effort", "whole", minimum=0),
    Setting("api.reasoning.exclude", "do not return the reasoning", "switch"),
    Setting("api.reasoning.enabled", "whether the model reasons; true alone means medium effort", "switch"),
    Setting("render_markdown", "render answers on a terminal instead of printing plain text", "switch", display=True),
    Setting("verbose", "show progress and tool calls, not only the answer", "switch", display=True),
    Setting("hide_tool_calls", "do not show tool calls, even if verbose", "switch", display=True),
    Setting("show_thinking", "show the model's reasoning on stderr", "switch", display=True),
    Setting("markdown_style", "colours of rendered answers", "table", display=True),
    *(Setting(f"markdown_style.{name}", "a colour's name, or #RRGGBB", "colour", display=True)
      for name in _STYLES.split()),
)  # fmt: skip

SETTINGS_BY_NAME = MappingProxyType({one.name: one for one in SETTINGS})
_BY_FILE_KEY = MappingProxyType({key: one for one in SETTINGS for key in one.keys})

EFFORT, BUDGET = "api.reasoning.effort", "api.reasoning.max_tokens"
EXCLUSIVE_SETTINGS = MappingProxyType({EFFORT: BUDGET, BUDGET: EFFORT})
"""Setting one of two that exclude each other unsets the other."""
ADDITIVE_LISTS = ("tools.exclude", "tools.exclude_categories")
"""Lists to which a stronger layer adds instead of replacing them."""
_UNSUPPORTED_KEYS = """
    auto_cleanup_cache auto_compact auto_compact_threshold image rolling_compact_drop_percentage subagent_cost_tier
    tool_cache_max_age_days tool_cache_preview_chars tool_output_cache_threshold url_policy vfs
"""
UNSUPPORTED_KEYS = frozenset(_UNSUPPORTED_KEYS.split())
"""Keys of a Chibi home for parts that do not exist here yet: a note, not an error."""
CHIBI_KEYS = UNSUPPORTED_KEYS | {"file_tools_allowed_paths", "max_recursion_depth"}
"""Keys that only Chibi's own files have."""


def find_setting(name: str) -> Setting | None:
    """The setting with this name or other file key, also below any provider's id."""
    found = SETTINGS_BY_NAME.get(name) or _BY_FILE_KEY.get(name)
    if found or not name.startswith("providers."):
        return found
    _, id, *field = name.split(".")
    if not id or len(field) > 1:
        return None
    if not field:
        return Setting(name, "one provider", "table")
    row = SETTINGS_BY_NAME.get(f"providers.{ANY_PROVIDER}.{field[0]}")
    return row and row._replace(name=name)


def unknown_key_hint(name: str, *, display: bool | None = None, list_known: bool = True) -> str:
    """The end of a message about an unknown key: the closest key of its table, or else all of them.

    `display` restricts the search to keys of cli.toml (True) or to all others (False).
    """
    table, dot, key = name.rpartition(".")
    row = f"providers.{ANY_PROVIDER}" if table.startswith("providers.") else table
    known = [
        one.name[len(row) + len(dot) :]
        for one in SETTINGS
        if one.name.rpartition(".")[0] == row and display in (None, one.display)
    ]
    if near := close_matches(key, known):
        return did_you_mean(f"{table}{dot}{one}" for one in near)
    return f"; known keys: {', '.join(f'{table}{dot}{one}' for one in known)}" if known and list_known else ""
