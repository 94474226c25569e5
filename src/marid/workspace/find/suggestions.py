"""Suggest existing names for a path that was not found."""

import os
from dataclasses import replace

from marid.core.errors import MaridError, NotFound
from marid.core.suggestions import close_matches
from marid.text.display import quote_path
from marid.workspace.guard.api import GuardedPath


def not_found_error(path: GuardedPath, given: str) -> NotFound:
    """The error for a missing path, with similar names in its folder."""
    folder, name = os.path.split(path.name)
    try:
        names = [entry.name for entry in replace(path, name=folder or ".").entries()]
    except MaridError:
        return NotFound(f"{quote_path(given)}: not found, and neither is its folder")
    near = closest_names(name, names)
    hint = f"; similar: {', '.join(near)}" if near else ""
    return NotFound(f"{quote_path(given)}: not found{hint}")


def closest_names(name: str, names: list[str]) -> list[str]:
    """Up to three of `names` that look like `name`, as they may be shown."""
    lower = {other.lower(): other for other in names}
    return [quote_path(lower[other]) for other in close_matches(name.lower(), lower, 3)]
