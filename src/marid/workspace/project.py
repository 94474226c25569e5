"""Find the project of a folder: the nearest folder above that is the top of a version control checkout."""

import os
from stat import S_IFDIR, S_IFMT, S_IFREG

# What marks the top; in worktrees and submodules of git it is a file.
MARKERS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (".git", (S_IFDIR, S_IFREG)),
    *((name, (S_IFDIR,)) for name in (".hg", ".svn", ".bzr", ".pijul", ".jj")),
    *((name, (S_IFREG,)) for name in (".fslckout", "_FOSSIL_")),
)
CVS = "CVS"


def find_project_root(folder: str) -> str:
    """The top of the project of `folder` (absolute); `folder` itself without a marker.

    CVS marks every folder, so there the highest one of an unbroken chain is the top, and only without another marker.
    """
    at, below = folder, ""
    while not any(_file_type(os.path.join(at, name)) in kinds for name, kinds in MARKERS):
        at, below = os.path.dirname(at), at
        if at == below:
            return _cvs_root(folder)
    return at


def _cvs_root(folder: str) -> str:
    while _is_in_cvs(folder) and _is_in_cvs(parent := os.path.dirname(folder)) and parent != folder:
        folder = parent
    return folder


def _is_in_cvs(folder: str) -> bool:
    return _file_type(os.path.join(folder, CVS)) == S_IFDIR


def _file_type(path: str) -> int:
    """The type of the file, links followed; 0 without one."""
    try:
        return S_IFMT(os.stat(path).st_mode)
    except OSError:
        return 0
