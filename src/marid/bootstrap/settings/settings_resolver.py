"""Resolve the settings.

Layers, weak to strong: defaults, config.toml, environment, models.toml, the project's .marid.toml (which may only
tighten), the conversation's local.toml, flags.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType

from marid.core.settings.values import ResolvedSettings, Settings, make_settings, settings_files

_LOCATION_VARIABLES = frozenset({"MARID_HOME", "CHIBI_HOME", "MARID_PROJECT_ROOT", "CHIBI_PROJECT_ROOT"})


def resolve_settings(
    home: str,
    environ: Mapping[str, str],
    project: str,
    conversation: str = "",
    flags: Mapping[str, object] = MappingProxyType({}),
) -> ResolvedSettings:
    """The settings in force for a conversation, or for none. Every file is read once. `flags` are values by key.

    Raises: BadInput with every problem of every file, variable and flag, or for an invalid name.
    """
    own = conversation and _settings_folder(home, conversation)
    files = settings_files(home, project, own)
    if not flags and not _has_settings(environ) and not any(map(os.path.exists, files)):
        return ResolvedSettings(Settings(home=home))
    # Imported when used: most users set nothing.
    from marid.bootstrap.settings.layer import nest_tables
    from marid.bootstrap.settings.layer_stack import merge_sources

    given = environ.get("CHIBI_HOME")
    is_chibi_home = os.path.basename(home) == ".chibi" or bool(given and os.path.abspath(given) == home)
    merged = merge_sources(files, environ, flags, is_chibi_home=is_chibi_home)
    origins = MappingProxyType({name: one.origin for name, one in merged.layer.items()})
    return ResolvedSettings(make_settings(home, **nest_tables(merged.layer)), origins, merged.notes)


def _settings_folder(home: str, conversation: str) -> str:
    from marid.adapters.store.layout import HomeLayout  # imported when used: a plain run has no conversation

    return HomeLayout(home).paths(conversation).folder


def _has_settings(environ: Mapping[str, str]) -> bool:
    return any(name.startswith(("MARID_", "CHIBI_", "JINNI_")) and name not in _LOCATION_VARIABLES for name in environ)
