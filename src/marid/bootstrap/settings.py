"""Settings, weak to strong: defaults, config.toml, environment, models.toml, the project's .marid.toml, which may only
tighten, the conversation's local.toml, flags."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from marid.core.settings import DISPLAY, SETTINGS, Display, Resolved, Settings, files_of

DEFAULT = "default"
_PLACES = frozenset({"MARID_HOME", "CHIBI_HOME", "MARID_PROJECT_ROOT", "CHIBI_PROJECT_ROOT"})


class Sources(NamedTuple):
    """Where settings may stand: folders, variables, the name of a conversation or nothing, and flags by key."""

    home: str
    project: str
    environ: Mapping[str, str]
    conversation: str = ""
    flags: Mapping[str, object] = MappingProxyType({})


def resolve(sources: Sources) -> Resolved:
    """The settings in force for a conversation, or for none.

    Raises: BadInput that names every problem of every file, variable and flag at once, or a name that is none.
    """
    files = files_of(sources.home, sources.project, sources.conversation and _checked(sources.conversation))
    if not sources.flags and not _is_set(sources.environ) and not any(map(os.path.exists, files)):
        return Resolved(Settings(home=sources.home), Display(), _origins({}))
    from marid.bootstrap.layers import display_settings_of, settings_of  # imported when used: most set nothing
    from marid.bootstrap.layers_stack import Stack

    stack = Stack(files, is_of_chibi=_is_of_chibi(sources))
    settings, display = stack.put_together(sources.environ, sources.flags)
    origins = _origins({**settings.origins, **display.origins})
    return Resolved(settings_of(settings, sources.home), display_settings_of(display), origins, tuple(stack.notes))


def _checked(name: str) -> str:
    from marid.text.names import check_name  # imported when used: a plain run has no conversation

    return check_name(name)


def _is_set(environ: Mapping[str, str]) -> bool:
    return any(name.startswith(("MARID_", "CHIBI_", "JINNI_")) and name not in _PLACES for name in environ)


def _is_of_chibi(sources: Sources) -> bool:
    """Whether Chibi keeps its files in this home too, as far as its name tells."""
    given = sources.environ.get("CHIBI_HOME")
    return os.path.basename(sources.home) == ".chibi" or bool(given and os.path.abspath(given) == sources.home)


def _origins(known: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({**{one.name: DEFAULT for one in (*SETTINGS, *DISPLAY)}, **known})
