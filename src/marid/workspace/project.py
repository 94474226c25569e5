"""The project that a folder belongs to: the nearest folder above it that version control marks as its top."""

import os
from stat import S_IFDIR, S_IFMT, S_IFREG

# By what each system marks the top of a project; git's worktrees and submodules have a file in place of the folder.
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
    """The top of the project that holds `folder` (absolute); `folder` itself when nothing marks one.

    CVS leaves a folder of its name in every folder that it keeps, so there the highest of an unbroken row is the top;
    it counts only where no other system marks anything.
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
    """What is there, links followed; 0 for nothing."""
    try:
        return S_IFMT(os.stat(path).st_mode)
    except OSError:
        return 0
