"""Instructions for a model: AGENTS.md files of the home and the project, and prompts of the home."""

import os
from collections.abc import Iterator
from contextlib import suppress
from stat import S_ISREG
from typing import NamedTuple

from marid.workspace.dirfd_walk import Identity, read_up_to
from marid.workspace.guard.openat import default_opener

INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md")
MAX_INSTRUCTION_BYTES = 64 * 1024
_TRUNCATION_NOTE = f"[Truncated: the file is larger than {MAX_INSTRUCTION_BYTES // 1024} KiB.]"
_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class _InstructionFile(NamedTuple):
    """The text of a file, and its device and inode."""

    text: str
    identity: Identity


def load_instructions(home: str, user_home: str, project: str, cwd: str) -> str:
    """The instructions of the user's home, of marid's home, and of the project from its top down to `cwd`.

    In each folder AGENTS.md is used, or CLAUDE.md if that is missing or blank; each file once. Empty paths and files
    that cannot be read are skipped. In the project a link is followed only to a Markdown file of the project, so that
    an untrusted project cannot send other files to a model.
    """
    texts: dict[Identity, str] = {}
    for found in _find_all(home, user_home, project, cwd):
        texts.setdefault(found.identity, found.text)
    return "\n\n".join(texts.values())


def load_home_prompt(home: str, name: str) -> str:
    """The user's prompt of that name in marid's home; "" without one."""
    found = _read_file(os.path.join(home, "prompts", f"{name}.md")) if home else None
    return found.text if found else ""


def _find_all(home: str, user_home: str, project: str, cwd: str) -> Iterator[_InstructionFile]:
    for own in (user_home, home):
        if own and (found := _first_in(own)):
            yield found
    if project:
        top = os.path.realpath(project)
        for folder in _folders_down_to(top, os.path.realpath(cwd)):
            if found := _first_in(folder, top):
                yield found


def _folders_down_to(top: str, folder: str) -> Iterator[str]:
    """The folders from `top` down to `folder`; only `top` if `folder` is elsewhere."""
    yield top
    if _is_below(top, folder):
        at = top
        for part in os.path.relpath(folder, top).split(os.sep):
            at = os.path.join(at, part)
            yield at


def _is_below(top: str, path: str) -> bool:
    """Whether the real path `path` is below `top`."""
    return path != top and path.startswith(top.rstrip(os.sep) + os.sep)


def _first_in(folder: str, top: str = "") -> _InstructionFile | None:
    """The first instruction file that is not blank."""
    for name in INSTRUCTION_FILES:
        found = _read_file(os.path.join(folder, name), top)
        if found and found.text:
            return found
    return None


def _read_file(path: str, top: str = "") -> _InstructionFile | None:
    """Read a regular file, with `top` only below that; None for anything else."""
    # A path with a NUL raises ValueError.
    with suppress(OSError, ValueError):
        fd = _open_below(os.path.realpath(path), top) if top else os.open(path, _OPEN_FLAGS)
        try:
            about = os.fstat(fd)
            if S_ISREG(about.st_mode):
                return _InstructionFile(
                    _decode(read_up_to(fd, MAX_INSTRUCTION_BYTES + 1)), (about.st_dev, about.st_ino)
                )
        finally:
            os.close(fd)
    return None


def _open_below(real: str, top: str) -> int:
    """Open a Markdown file by its real path, following no link that was put there since. Raises: OSError."""
    if not _is_below(top, real) or not real.lower().endswith(".md"):
        raise FileNotFoundError(real)
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return default_opener()(folder, os.path.relpath(real, top), os.O_RDONLY)
    finally:
        os.close(folder)


def _decode(data: bytes) -> str:
    text = data[:MAX_INSTRUCTION_BYTES].decode("utf-8-sig", "replace").strip()
    # The last character may be incomplete.
    return f"{text.rstrip('�')}\n\n{_TRUNCATION_NOTE}" if len(data) > MAX_INSTRUCTION_BYTES else text
