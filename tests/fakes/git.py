"""Git and clones in memory, under the same contract as the real ones."""

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from marid.core.errors import BadInput, NotFound, Unavailable
from marid.text import git_text

NO_FILES: Mapping[str, bytes] = {}


@dataclass(frozen=True, kw_only=True)
class FakeCommit:
    subject: str
    files: Mapping[str, bytes]
    author: str = "Ada"
    date: str = "2024-05-06T07:08:09+00:00"


@dataclass(kw_only=True)
class FakeRepository:
    """Commits from the oldest to the newest, the files of the working tree, and those that are ignored."""

    commits: list[FakeCommit] = field(default_factory=list[FakeCommit])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    ignored: set[str] = field(default_factory=set[str])

    def commit(self, subject: str, files: Mapping[str, bytes]) -> str:
        self.files.update(files)
        kept = {name: data for name, data in self.files.items() if name not in self.ignored}
        self.commits.append(FakeCommit(subject=subject, files=kept))
        return self.hash(len(self.commits) - 1)

    def hash(self, number: int) -> str:
        return f"{number + 1:040x}"

    def at(self, rev: str) -> Mapping[str, bytes]:
        """The files at a revision: HEAD, steps back from it, or a hash."""
        hashes = [self.hash(number) for number in range(len(self.commits))]
        steps = re.fullmatch(r"(?:HEAD|@)(?:~(\d*))?", rev)
        back = int(steps[1] or 1) if steps and "~" in rev else 0
        number = len(hashes) - 1 - back if steps else hashes.index(rev) if rev in hashes else -1
        if number < 0:
            raise BadInput(f"no such revision: {git_text.quote_for_message(rev)}")
        return self.commits[number].files

    def touched(self, number: int) -> dict[str, str]:
        """The status letter of each file that a commit touches."""
        old = self.commits[number - 1].files if number else NO_FILES
        new = self.commits[number].files
        names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
        return {name: "A" if name not in old else "D" if name not in new else "M" for name in names}


@dataclass(frozen=True, kw_only=True)
class FakeGit:
    """The port Git over repositories by folder."""

    repositories: Mapping[str, FakeRepository]

    def diff(self, folder: str, rev: str | None) -> bytes:
        repository, below = self._find(folder)
        unborn = rev is None and not repository.commits
        old = NO_FILES if unborn else repository.at(git_text.check_revision("HEAD" if rev is None else rev))
        tracked = {*old, *(repository.commits[-1].files if repository.commits else NO_FILES)}
        new = {name: data for name, data in repository.files.items() if name in tracked}
        names = sorted(name for name in tracked if name.startswith(below) and old.get(name) != new.get(name))
        return b"".join(_file_diff(name.removeprefix(below), old.get(name), new.get(name)) for name in names)

    def compare(self, folder: str, name: str, base: str, head: str | None) -> bytes:
        repository, below = self._find(folder)
        unborn = base == "HEAD" and not repository.commits
        old = NO_FILES if unborn else repository.at(git_text.check_revision(base))
        tracked = {*old, *(repository.commits[-1].files if repository.commits else NO_FILES)}
        now = {file: data for file, data in repository.files.items() if file in tracked}
        new = now if head is None else repository.at(git_text.check_revision(head))
        inside = below if name == "." else f"{below}{name}"
        names = sorted(file for file in {*old, *new} if file == inside or name == "." or file.startswith(f"{inside}/"))
        differing = [file for file in names if file.startswith(below) and old.get(file) != new.get(file)]
        return b"".join(_file_diff(file.removeprefix(below), old.get(file), new.get(file)) for file in differing)

    def changed_files(self, folder: str, rev: str) -> tuple[str, ...]:
        repository, below = self._find(folder)
        old = repository.at(git_text.check_revision(rev))
        names = (name for name in repository.files if name in old or name not in repository.ignored)
        differing = (name for name in names if old.get(name) != repository.files[name])
        return tuple(sorted(name.removeprefix(below) for name in differing if name.startswith(below)))

    def log(self, folder: str, count: int) -> bytes:
        if count < 1:
            raise BadInput(f"a log needs at least one commit, not {count}")
        repository, below = self._find(folder)
        found: list[str] = []
        for number in reversed(range(len(repository.commits))):
            commit, touched = repository.commits[number], repository.touched(number)
            lines = [
                f"{mark}\t{name.removeprefix(below)}\n" for name, mark in touched.items() if name.startswith(below)
            ]
            if lines and len(found) < count:
                head = f"commit {repository.hash(number)}\nAuthor: {commit.author}\nDate:   {commit.date}\n\n"
                found.append(f"{head}    {commit.subject}\n\n{''.join(lines)}")
        return "\n".join(found).encode()

    def recency(self, folder: str) -> Mapping[str, int]:
        try:
            repository, below = self._find(folder)
        except NotFound:
            return {}
        ages: dict[str, int] = {}
        for age, number in enumerate(reversed(range(len(repository.commits)))):
            for name in repository.touched(number):
                if name.startswith(below):
                    ages.setdefault(name.removeprefix(below), age)
        return ages

    def _find(self, folder: str) -> tuple[FakeRepository, str]:
        for top, repository in self.repositories.items():
            if folder == top or folder.startswith(top + os.sep):
                below = folder[len(top) + 1 :]
                return repository, f"{below}/" if below else ""
        raise NotFound(f"not in a git repository: {folder}")


@dataclass(frozen=True, kw_only=True)
class FakeClones:
    """The port Clones over folders by URL and branch; `asked` records the calls."""

    folders: Mapping[tuple[str, str | None], str]
    asked: list[tuple[str, str | None]] = field(default_factory=list[tuple[str, str | None]])

    def clone(self, url: str, branch: str | None) -> str:
        wanted = (git_text.check_clone_url(url), None if branch is None else git_text.check_branch(branch))
        self.asked.append(wanted)
        if wanted in self.folders:
            return self.folders[wanted]
        if any(url == known for known, _ in self.folders):
            raise NotFound(f"{git_text.public_url(url)} has no branch {git_text.quote_for_message(branch or '')}")
        raise Unavailable(f"{git_text.public_url(url)} cannot be fetched")


def _file_diff(name: str, old: bytes | None, new: bytes | None) -> bytes:
    sides = [(data or b"").decode("utf-8", "surrogateescape").splitlines(keepends=True) for data in (old, new)]
    names = (f"a/{name}" if old is not None else os.devnull, f"b/{name}" if new is not None else os.devnull)
    body = "".join(difflib.unified_diff(sides[0], sides[1], names[0], names[1]))
    return f"diff --git a/{name} b/{name}\n{body}".encode("utf-8", "surrogateescape")
