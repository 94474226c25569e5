"""Find the project of a folder: the nearest folder above that is the top of a version control checkout."""

import os
from stat import S_IFDIR, S_IFMT, S_IFREG

# What marks the top; in worktrees and submodules of git it is a file.
MARKERS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (".git", (S_IFDIR, S_IFREG)),
    (".hg", (S_IFDIR,)),
    (".svn", (S_IFDIR,)),
    (".bzr", (S_IFDIR,)),
    (".pijul", (S_IFDIR,)),
    (".jj", (S_IFDIR,)),
    (".fslckout", (S_IFREG,)),
    ("_FOSSIL_", (S_IFREG,)),
)
CVS = "CVS"


def find_project_root(folder: str) -> str:
    """The top of the project of `folder` (absolute); `folder` itself without a marker.

    CVS marks every folder, so there the highest one of an unbroken chain is the top, and only without another marker.
    """
    at = folder
    while not _has_marker(at):
        parent = os.path.dirname(at)
        if parent == at:
            return _cvs_root(folder)
        at = parent
    return at


def _has_marker(folder: str) -> bool:
    return any(_file_type(os.path.join(folder, name)) in kinds for name, kinds in MARKERS)


def _cvs_root(folder: str) -> str:
    at = folder
    while _is_in_cvs(at) and _is_in_cvs(parent := os.path.dirname(at)) and parent != at:
        at = parent
    return at


def _is_in_cvs(folder: str) -> bool:
    return _file_type(os.path.join(folder, CVS)) == S_IFDIR


def _file_type(path: str) -> int:
    """The type of the file, links followed; 0 without one."""
    try:
        return S_IFMT(os.stat(path).st_mode)
    except OSError:
        return 0
