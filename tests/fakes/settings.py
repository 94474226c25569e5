"""A home and a project with settings files, and one value of every setting in all of its spellings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from marid.bootstrap.settings.settings_resolver import resolve_settings
from marid.core.settings.schema import SETTINGS
from marid.core.settings.values import ResolvedSettings, Settings, settings_by_key

NAME = "talk"


class SettingsFiles:
    """A home and a project with settings files."""

    def __init__(self, top: Path) -> None:
        self.home = top / "home"
        self.project = top / "project"
        self.own = self.home / "contexts" / NAME
        self.own.mkdir(parents=True)
        self.project.mkdir()

    def config(self, text: str) -> None:
        (self.home / "config.toml").write_text(text)

    def models(self, text: str) -> None:
        (self.home / "models.toml").write_text(text)

    def marid_toml(self, text: str) -> None:
        (self.project / ".marid.toml").write_text(text)

    def local(self, text: str) -> None:
        (self.own / "local.toml").write_text(text)

    def cli(self, text: str, *, own: bool = False) -> None:
        ((self.own if own else self.home) / "cli.toml").write_text(text)

    def resolve(self, flags: Mapping[str, object] | None = None, /, **environ: str) -> ResolvedSettings:
        """As it is for the conversation."""
        return self.within(environ, flags)

    def within(self, environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> ResolvedSettings:
        """The same, with variables whose names are made."""
        return resolve_settings(str(self.home), environ, str(self.project), NAME, flags or {})

    def load(self, **environ: str) -> Settings:
        """As it is for no conversation."""
        return resolve_settings(str(self.home), environ, str(self.project)).settings


class Sample(NamedTuple):
    """A value as TOML, as a text of the environment or of a flag, and as it is in the settings."""

    toml: str
    text: str
    value: Any


def _word(word: str) -> Sample:
    return Sample(f'"{word}"', word, word)


def _number(number: float) -> Sample:
    return Sample(str(number), str(number), number)


ON, OFF = Sample("true", "yes", True), Sample("false", "off", False)
_PATHS = Sample('["/a", "/b"]', "/a:/b", ("/a", "/b"))
_NAMES = Sample('["one", "two"]', "one,two", ("one", "two"))

SAMPLES: dict[str, Sample] = {
    "max_size_mb": _number(7.5),
    "encoding": _word("cl100k_base"),
    "mask": OFF,
    "rules": Sample('["!a", "!b"]', "!a:!b", ("!a", "!b")),
    "clone_host": _word("https://example.org/"),
    "roots": _PATHS,
    "files": _PATHS,
    "outside": _word("ask"),
    "policy": Sample('{exec = "deny"}', "exec=deny", {"exec": "deny"}),
    "search_url": _word("https://example.org/s"),
    "net_allow": Sample('["a:1", "b"]', "a:1,b", ("a:1", "b")),
    "provider": _word("ollama"),
    "model": _word("some/model"),
    "api_key": _word("sk-canary-123"),
    "base_url": _word("https://example.org/v1"),
    "username": _word("ada"),
    "context_window_limit": _number(8000),
    "warn_threshold_percent": _number(66.5),
    "no_tool_calls": ON,
    "fuel": _number(12),
    "fuel_empty_response_cost": _number(3),
    "fallback_tool": _word("call_agent"),
    "reflection_enabled": OFF,
    "reflection_character_limit": _number(500),
    "lock_heartbeat_seconds": _number(5.5),
    "tools.include": _NAMES,
    "tools.exclude": _NAMES,
    "tools.exclude_categories": _NAMES,
    "storage.partition_max_entries": _number(10),
    "storage.partition_max_age_seconds": _number(120),
    "storage.partition_max_tokens": _number(2000),
    "storage.bytes_per_token": _number(4),
    "storage.enable_bloom_filters": OFF,
    "api.temperature": _number(0.25),
    "api.max_tokens": _number(512),
    "api.top_p": _number(0.5),
    "api.stop": Sample('["END", "a,b"]', '["END", "a,b"]', ("END", "a,b")),
    "api.tool_choice": Sample(
        '{type = "function", function = {name = "f"}}',
        '{"type": "function", "function": {"name": "f"}}',
        {"type": "function", "function": {"name": "f"}},
    ),
    "api.parallel_tool_calls": OFF,
    "api.frequency_penalty": _number(-1.5),
    "api.presence_penalty": _number(1.5),
    "api.seed": _number(-7),
    "api.response_format": Sample('{type = "json_object"}', "json_object", {"type": "json_object"}),
    "api.prompt_caching": OFF,
    "api.reasoning.effort": _word("low"),
    "api.reasoning.max_tokens": _number(1024),
    "api.reasoning.exclude": ON,
    "api.reasoning.enabled": OFF,
    "providers.work.base_url": _word("https://work.example/v1"),
    "providers.work.api_key": _word("sk-canary-work"),
    "providers.work.model": _word("work-model"),
}

SHOWN: dict[str, Sample] = {
    "render_markdown": OFF,
    "verbose": ON,
    "hide_tool_calls": ON,
    "show_thinking": ON,
    **{one.name: _word("#aaBB01" if one.name.endswith("1") else "blue") for one in SETTINGS if one.kind == "colour"},
}


def value_of(resolved: ResolvedSettings, name: str) -> Any:
    """What is in force under a name with dots."""
    first, *rest = name.split(".")
    value: Any = settings_by_key(resolved.settings)[first]
    for part in rest:
        value = value.get(part, {})
    return value
