"""Where the git folders of a checkout are: they may be outside of it, or below it."""

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice

_MAX_POINTER_BYTES = 4096  # of a file with one path
_MAX_GITMODULES_BYTES = 1 << 20
_MAX_SUBMODULES = 100
_MAX_FOLDERS = 2000  # about 30 ms before every command
_TOOLS = frozenset(("node_modules", "venv", "target", "build", "dist", "__pycache__"))
_PATH = re.compile(r"\s*path\s*=\s*\"?(.+?)\"?\s*")


def linked_git_folders(root: str) -> Iterator[tuple[str, bool]]:
    """The folders that a `.git` file in `root` points to: the checkout's own, and the one it shares with others.

    The boolean is whether the repository names `root` as its checkout: the file alone could point anywhere.
    """
    pointer = os.path.join(root, ".git")
    line = _read_first_line(pointer)
    if line is None or not line.startswith("gitdir: "):
        return
    own = os.path.realpath(os.path.join(root, line.removeprefix("gitdir: ")))
    back = _read_first_line(os.path.join(own, "gitdir"))
    known = back is not None and os.path.realpath(os.path.join(own, back)) == os.path.realpath(pointer)
    yield own, known
    shared = _read_first_line(os.path.join(own, "commondir"))
    if shared is not None:
        common = os.path.realpath(os.path.join(own, shared))
        yield common, known and os.path.dirname(own) == os.path.join(common, "worktrees")


def find_nested_checkouts(root: str, max_folders: int = _MAX_FOLDERS) -> Iterator[str]:
    """Each `.git` of the submodules in `.gitmodules` and of the folders below `root`, nearest first.

    At most `max_folders` folders are searched, and none that tools generate.
    """
    text = _read_start(os.path.join(root, ".gitmodules"), _MAX_GITMODULES_BYTES) or ""
    submodules = (found[1] for line in text.split("\n") if (found := _PATH.fullmatch(line)))
    named = (os.path.normpath(os.path.join(root, name)) for name in islice(submodules, _MAX_SUBMODULES))
    listed = (path for path in named if path.startswith(f"{root}/"))
    for folder in dict.fromkeys((*listed, *islice(_walk_folders(root), max_folders))):
        path = os.path.join(folder, ".git")
        if os.path.lexists(path):
            yield path


def _walk_folders(top: str) -> Iterator[str]:
    """The folders below `top`, level by level."""
    queue = deque([top])
    while queue:
        with contextlib.suppress(OSError), os.scandir(queue.popleft()) as entries:
            folders = (e for e in entries if e.is_dir(follow_symlinks=False))
            found = sorted(e.path for e in folders if e.name[0] != "." and e.name not in _TOOLS)
            yield from found
            queue += found


def _read_first_line(path: str) -> str | None:
    text = _read_start(path, _MAX_POINTER_BYTES)
    return None if text is None else text.partition("\n")[0].rstrip("\r")


def _read_start(path: str, max_bytes: int) -> str | None:
    """The start of a regular file; None for anything else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return os.fsdecode(os.read(fd, max_bytes))
    except OSError:  # a folder
        return None
    finally:
        os.close(fd)
