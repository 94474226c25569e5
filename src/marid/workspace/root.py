"""The project that a folder belongs to: the nearest folder above it that version control marks as its top."""

import os

MARKERS = (".git", ".hg", ".svn", ".bzr", ".pijul", ".jj", ".fslckout", "_FOSSIL_")


def project_root(folder: str) -> str:
    """The top of the project that holds `folder` (absolute); `folder` itself when nothing marks one.

    CVS leaves a folder of its name in every folder it keeps, so there the highest marked one is the top.
    """
    at = folder
    while True:
        if any(os.path.lexists(os.path.join(at, marker)) for marker in MARKERS):
            return at
        parent = os.path.dirname(at)
        if os.path.isdir(os.path.join(at, "CVS")) and not os.path.isdir(os.path.join(parent, "CVS")):
            return at
        if parent == at:
            return folder
        at = parent
