"""Ports to git: the repository of a folder, and clones of remote repositories."""

from collections.abc import Mapping
from typing import Protocol


class Git(Protocol):
    """Reads the repository that a folder is in. Every path is relative to that folder; nothing outside it is shown.

    The repository is not trusted: nothing in it makes a command run. All methods but `recency` raise NotFound if the
    folder is not in a repository, Refused if the repository borrows objects from outside or has another owner,
    BadInput for an invalid revision, Exhausted for too much output, and Unavailable if git is missing or fails.
    """

    def diff(self, folder: str, rev: str | None) -> bytes:
        """The unified diff from `rev` (HEAD) to the working tree, without untracked files."""
        ...

    def compare(self, folder: str, name: str, base: str, head: str | None) -> bytes:
        """The unified diff of one file or folder below `folder` from `base` to `head`, or to the working tree.

        A rename is a deletion and an addition, so that every part of the diff is about one name. Before the first
        commit, HEAD is an empty tree.
        """
        ...

    def changed_files(self, folder: str, rev: str) -> tuple[str, ...]:
        """The files, sorted, that differ from `rev`: also untracked ones that are not ignored, without deleted ones."""
        ...

    def log(self, folder: str, count: int) -> bytes:
        """The last `count` commits that touch the folder: hash, author, date, subject, files with their status."""
        ...

    def recency(self, folder: str) -> Mapping[str, int]:
        """How many commits ago each file last changed, 0 for the newest; empty if that is not known."""
        ...


class Clones(Protocol):
    """Shallow copies of remote repositories, kept between runs."""

    def clone(self, url: str, branch: str | None) -> str:
        """The folder of a clone that is up to date if the remote can be reached.

        Raises: BadInput for an unsafe URL or branch name; NotFound for a branch that the remote does not have;
        Unavailable if there is no clone and none can be made. No message contains a credential.
        """
        ...
