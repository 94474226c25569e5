"""Resolve the settings.

Layers, weak to strong: defaults, config.toml, environment, models.toml, the project's .marid.toml (which may only
tighten), the conversation's local.toml, flags.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType

from marid.bootstrap.parts import make
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
    own = conversation and make("marid.adapters.store.layout:HomeLayout", home).paths(conversation).folder
    files = settings_files(home, project, own)
    if not flags and not _has_settings(environ) and not any(map(os.path.exists, files)):
        return ResolvedSettings(Settings(home=home))
    given = environ.get("CHIBI_HOME")
    is_chibi_home = os.path.basename(home) == ".chibi" or bool(given and os.path.abspath(given) == home)
    target = "marid.bootstrap.settings.layer_stack:merge_sources"  # imported when used: most users set nothing
    values, origins, notes = make(target, files, environ, flags, is_chibi_home=is_chibi_home)
    return ResolvedSettings(make_settings(home, **values), origins, notes)


def _has_settings(environ: Mapping[str, str]) -> bool:
    return any(name.startswith(("MARID_", "CHIBI_", "JINNI_")) and name not in _LOCATION_VARIABLES for name in environ)
