"""Every setting there is. Read once in bootstrap, frozen, passed as a value."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Settings(NamedTuple):
    """The settings in force. Their meaning stands in SETTINGS, from which the docs are made."""

    home: str = ""
    max_size_mb: float = 100.0
    encoding: str = "o200k_base"
    mask: bool = True
    rules: tuple[str, ...] = ()
    clone_host: str = "https://github.com/"
    roots: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    outside: str = "deny"
    policy: Mapping[str, object] = MappingProxyType({})
    narrower: Mapping[str, object] = MappingProxyType({})
    """What the project's own file adds to the policy; it can only make it stricter."""
    search_url: str = "https://html.duckduckgo.com/html/"
    net_allow: tuple[str, ...] = ()


class Setting(NamedTuple):
    """One setting as files, environment and docs know it.

    `tighten` says what a project's own file may do to it: "" nothing, "lower" a number, "on" a switch, "add" to a list,
    "stricter" verdicts. `aliases` are other names in the environment, `keys` other names in config.toml.
    """

    name: str
    meaning: str
    tighten: str = ""
    aliases: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    separator: str = ""
    """Between the items of a list in the environment, where it is not the one between paths."""


SETTINGS = (
    Setting("max_size_mb", "most megabytes of content that one context may hold", "lower", ("JINNI_MAX_SIZE_MB",)),
    Setting("encoding", "the encoding that tokens are counted in: o200k_base or cl100k_base"),
    Setting("mask", "mask keys and tokens before anything leaves", "on"),
    Setting("rules", "context rules that count everywhere, as strong as a --config file", "add"),
    Setting("clone_host", "where owner/name is cloned from"),
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
    Setting("search_url", "the search page that web_search asks"),
    Setting(
        "net_allow",
        "hosts or host:port pairs that may be reached although they are private or of another port (`,` between them)",
        separator=",",
    ),
)

# Keys that a Chibi home's config.toml may hold for parts that are not built yet: told, not refused.
_LATER = """
    api api_key auto_cleanup_cache auto_compact auto_compact_threshold base_url context_window_limit fallback_tool
    fuel fuel_empty_response_cost lock_heartbeat_seconds max_recursion_depth model
    no_tool_calls reflection_character_limit reflection_enabled rolling_compact_drop_percentage storage
    subagent_cost_tier tool_cache_max_age_days tool_cache_preview_chars tool_output_cache_threshold tools url_policy
    username vfs warn_threshold_percent
"""
LATER = frozenset(_LATER.split())
