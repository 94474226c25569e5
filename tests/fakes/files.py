"""Changes to files, both ways to open one, and the rights of another user."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from marid.workspace.guard.guarded_path import GuardedPath
from marid.workspace.guard.openat import OpenBeneath, has_openat2, open_stepwise, open_with_openat2
from marid.workspace.guard.path_scope import PathScope


@dataclass(frozen=True, kw_only=True)
class FakeChange:
    """New bytes for a path."""

    path: GuardedPath
    before: bytes | None
    after: bytes


def change_to(top: Path | str, name: str, before: bytes | None, after: bytes) -> FakeChange:
    """One change below `top`."""
    return FakeChange(path=PathScope([str(top)]).resolve(name, write=True), before=before, after=after)


def file_contents(top: Path | str) -> dict[str, bytes]:
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


@contextmanager
def as_nobody() -> Generator[None]:
    """With the rights of an unprivileged user, if the tests run as root."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


OPENERS: list[OpenBeneath] = [*([open_with_openat2] if has_openat2() else []), open_stepwise]

both_openers = pytest.mark.parametrize("opening", OPENERS, ids=lambda opening: opening.__name__)
