"""What git knows about a folder, and copies of repositories that are elsewhere."""

from collections.abc import Mapping
from typing import Protocol


class Git(Protocol):
    """Reads the repository that a folder is in; every path is relative to that folder and nothing outside it is told.

    The repository is not trusted: nothing in it makes a command run. All methods but `recency` raise NotFound when
    the folder is in no repository, Refused when the repository borrows from outside or is someone else's,
    BadInput for what is no revision, Exhausted for too much output, and Unavailable when git is missing or fails.
    """

    def diff(self, folder: str, rev: str | None) -> bytes:
        """The unified diff from `rev` (HEAD) to the working tree, staged or not; untracked files are not in it."""
        ...

    def compare(self, folder: str, name: str, base: str, head: str | None) -> bytes:
        """The unified diff of one file or folder below `folder` from `base` to `head`, or to the working tree.

        Renames are a file that goes and one that comes, so that every part of the diff is about one name. Where there
        is no commit yet, HEAD means a tree without files.
        """
        ...

    def changed_files(self, folder: str, rev: str) -> tuple[str, ...]:
        """The files, sorted, that are not as in `rev`: also untracked ones that are not ignored, no deleted ones."""
        ...

    def log(self, folder: str, count: int) -> bytes:
        """The last `count` commits that touch the folder: hash, author, date, subject, files with their status."""
        ...

    def recency(self, folder: str) -> Mapping[str, int]:
        """How many commits ago each file last changed, 0 for the newest; empty when that cannot be told."""
        ...


class Clones(Protocol):
    """Shallow copies of remote repositories, kept between runs."""

    def clone(self, url: str, branch: str | None) -> str:
        """The folder of a copy that is as new as the remote lets it be.

        Raises BadInput for a URL or a branch name that git must not be given, NotFound for a branch that the remote
        does not have, Unavailable when there is no copy and none can be made. No message holds a credential.
        """
        ...
