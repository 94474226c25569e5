"""Instructions for a model: AGENTS.md files of the home and the project, and prompts of the home."""

import os
from contextlib import suppress
from itertools import accumulate
from stat import S_ISREG

from marid.workspace.dirfd_walk import Identity, read_up_to
from marid.workspace.guard.openat import default_opener

INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md")
MAX_INSTRUCTION_BYTES = 64 * 1024
_TRUNCATION_NOTE = f"[Truncated: the file is larger than {MAX_INSTRUCTION_BYTES // 1024} KiB.]"
_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def load_instructions(home: str, user_home: str, project: str, cwd: str) -> str:
    """The instructions of the user's home, of marid's home, and of the project from its top down to `cwd`.

    In each folder AGENTS.md is used, or CLAUDE.md if that is missing or blank; each file once. Empty paths and files
    that cannot be read are skipped. In the project a link is followed only to a Markdown file of the project, so that
    an untrusted project cannot send other files to a model.
    """
    found = [_first_in(own) for own in (user_home, home) if own]
    if project:
        top, folder = os.path.realpath(project), os.path.realpath(cwd)
        below = os.path.relpath(folder, top).split(os.sep) if _is_below(top, folder) else []
        found += [_first_in(at, top) for at in accumulate(below, os.path.join, initial=top)]
    texts: dict[Identity, str] = {}
    for identity, text in filter(None, found):
        texts.setdefault(identity, text)
    return "\n\n".join(texts.values())


def load_home_prompt(home: str, name: str) -> str:
    """The user's prompt of that name in marid's home; "" without one."""
    found = _read_file(os.path.join(home, "prompts", f"{name}.md")) if home else None
    return found[1] if found else ""


def _is_below(top: str, path: str) -> bool:
    """Whether the real path `path` is below `top`."""
    return path != top and path.startswith(top.rstrip(os.sep) + os.sep)


def _first_in(folder: str, top: str = "") -> tuple[Identity, str] | None:
    """The first instruction file that is not blank."""
    found = (_read_file(os.path.join(folder, name), top) for name in INSTRUCTION_FILES)
    return next((one for one in found if one and one[1]), None)


def _read_file(path: str, top: str = "") -> tuple[Identity, str] | None:
    """The identity and text of a regular file, with `top` only below that; None for anything else."""
    # A path with a NUL raises ValueError.
    with suppress(OSError, ValueError):
        fd = _open_below(os.path.realpath(path), top) if top else os.open(path, _OPEN_FLAGS)
        try:
            about = os.fstat(fd)
            if S_ISREG(about.st_mode):
                return (about.st_dev, about.st_ino), _decode(read_up_to(fd, MAX_INSTRUCTION_BYTES + 1))
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
