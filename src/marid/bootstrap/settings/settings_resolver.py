"""Resolve the settings.

Layers, weak to strong: defaults, config.toml, environment, models.toml, the project's .marid.toml (which may only
tighten), the conversation's local.toml, flags.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from marid.core.settings.values import ResolvedSettings, Settings, make_settings, settings_files

_LOCATION_VARIABLES = frozenset({"MARID_HOME", "CHIBI_HOME", "MARID_PROJECT_ROOT", "CHIBI_PROJECT_ROOT"})


class SettingsSources(NamedTuple):
    """Where settings may be set: two folders, variables, the name of a conversation or "", and flags by key."""

    home: str
    project: str
    environ: Mapping[str, str]
    conversation: str = ""
    flags: Mapping[str, object] = MappingProxyType({})


def resolve_settings(sources: SettingsSources) -> ResolvedSettings:
    """The settings in force for a conversation, or for none. Every file is read once.

    Raises: BadInput with every problem of every file, variable and flag, or for an invalid name.
    """
    own = sources.conversation and _settings_folder(sources.home, sources.conversation)
    files = settings_files(sources.home, sources.project, own)
    if not sources.flags and not _has_settings(sources.environ) and not any(map(os.path.exists, files)):
        return ResolvedSettings(Settings(home=sources.home))
    # Imported when used: most users set nothing.
    from marid.bootstrap.settings.layer import nest_tables
    from marid.bootstrap.settings.layer_stack import merge_sources

    merged = merge_sources(files, sources.environ, sources.flags, is_chibi_home=_is_chibi_home(sources))
    origins = MappingProxyType({name: one.origin for name, one in merged.layer.items()})
    return ResolvedSettings(make_settings(sources.home, **nest_tables(merged.layer)), origins, merged.notes)


def _settings_folder(home: str, conversation: str) -> str:
    from marid.adapters.store.layout import HomeLayout  # imported when used: a plain run has no conversation

    return HomeLayout(home).paths(conversation).folder


def _has_settings(environ: Mapping[str, str]) -> bool:
    return any(name.startswith(("MARID_", "CHIBI_", "JINNI_")) and name not in _LOCATION_VARIABLES for name in environ)


def _is_chibi_home(sources: SettingsSources) -> bool:
    """Whether the name of the home says that Chibi uses it as well."""
    given = sources.environ.get("CHIBI_HOME")
    return os.path.basename(sources.home) == ".chibi" or bool(given and os.path.abspath(given) == sources.home)
