"""Changes as the dispatcher passes them to a commit, and the files that result."""

import os
from dataclasses import dataclass
from pathlib import Path

from marid.workspace.guard.guarded_path import GuardedPath
from marid.workspace.guard.path_scope import PathScope


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """New bytes for a path."""

    path: GuardedPath
    before: bytes | None
    after: bytes


def wanted(top: Path | str, name: str, before: bytes | None, after: bytes) -> Wanted:
    """One change below `top`."""
    return Wanted(path=PathScope([str(top)]).resolve(name, write=True), before=before, after=after)


def contents(top: Path | str) -> dict[str, bytes]:
    """Every file below `top`; an empty folder ends with a slash."""
    found: dict[str, bytes] = {}
    for folder, folders, files in os.walk(top):
        below = os.path.relpath(folder, top)
        for name in files:
            file = Path(folder, name)
            content = os.readlink(file).encode() if file.is_symlink() else file.read_bytes()
            found[os.path.normpath(os.path.join(below, name))] = content
        if not files and not folders and below != ".":
            found[f"{below}/"] = b""
    return found
