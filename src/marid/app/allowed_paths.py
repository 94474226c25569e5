"""Paths outside the roots that tools may use, stored in the user's config.toml."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from marid.app.config_file import edit_toml_file
from marid.core.errors import BadInput, NotFound, Refused
from marid.text.display import quote_path

if TYPE_CHECKING:
    from marid.app.app import RequestScope

KEY = "files"


def list_allowed(scope: "RequestScope") -> tuple[str, ...]:
    """The allowed paths outside the roots."""
    return scope.settings.tools.files


def allow(scope: "RequestScope", path: str) -> str:
    """Let tools use `path` from now on, in every project: a single file, or a folder with everything in it.

    Raises: NotFound, BadInput for the whole disk, Refused for marid's home, Unavailable if it cannot be stored.
    """
    place = os.path.realpath(os.path.join(scope.cwd, path))
    if not os.path.exists(place):
        raise NotFound(f"'{quote_path(path)}' does not exist")
    if place == os.path.dirname(place):
        raise BadInput("the whole disk cannot be allowed: name the folders that tools may use")
    home = os.path.realpath(scope.home)
    if place == home or place.startswith(f"{home}/"):
        raise Refused("tools may not use marid's own home")
    _rewrite(scope, lambda kept: kept if place in kept else [*kept, place])
    return place


def forget(scope: "RequestScope", path: str) -> str:
    """Remove an allowed path. Returns it. Raises: NotFound if it is not allowed."""
    place = os.path.realpath(os.path.join(scope.cwd, path))
    named = next((kept for kept in scope.settings.tools.files if kept in (path, place)), None)
    if named is None:
        raise NotFound(f"'{quote_path(path)}' is not among the allowed paths; `marid allow` lists them")
    _rewrite(scope, lambda kept: [one for one in kept if one != named])
    return named


def _rewrite(scope: "RequestScope", change: Callable[[list[str]], list[str]]) -> None:
    import tomlkit  # imported when used

    def write(document: tomlkit.TOMLDocument) -> None:
        known = document.unwrap()
        key = next((key for key in (KEY, "file_tools_allowed_paths") if key in known), KEY)
        paths = change([str(one) for one in known.get(key, [])])
        document[key] = tomlkit.item(paths).multiline(len(paths) > 1)

    edit_toml_file(os.path.join(scope.home, "config.toml"), write)
