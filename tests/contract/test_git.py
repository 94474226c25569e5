"""What the ports Git and Clones promise, on the git program and in memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from fakes.git import FakeClones, FakeGit, FakeRepository
from fakes.worktree import Worktree, new_worktree
from marid.adapters.git.clones import CachedClones
from marid.adapters.git.local_git import LocalGit
from marid.core.errors import BadInput, NotFound, Unavailable
from marid.ports.git import Clones, Git


class Project(Protocol):
    """Someone at work in a repository."""

    def commit(self, subject: str, files: Mapping[str, bytes]) -> str: ...
    def write(self, name: str, data: bytes) -> None: ...
    def remove(self, name: str) -> None: ...
    def ignore(self, name: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class World:
    git: Git
    clones: Clones
    project: Project
    folder: str
    elsewhere: str


@dataclass(frozen=True, kw_only=True)
class MemoryProject:
    repository: FakeRepository

    def commit(self, subject: str, files: Mapping[str, bytes]) -> str:
        return self.repository.commit(subject, files)

    def write(self, name: str, data: bytes) -> None:
        self.repository.files[name] = data

    def remove(self, name: str) -> None:
        del self.repository.files[name]

    def ignore(self, name: str) -> None:
        self.repository.ignored.add(name)


@dataclass(frozen=True, kw_only=True)
class DiskProject:
    tree: Worktree

    def commit(self, subject: str, files: Mapping[str, bytes]) -> str:
        return self.tree.commit(subject, files)

    def write(self, name: str, data: bytes) -> None:
        self.tree.write(name, data)

    def remove(self, name: str) -> None:
        self.tree.remove(name)

    def ignore(self, name: str) -> None:
        (self.tree.path / ".git" / "info").mkdir(exist_ok=True)
        with (self.tree.path / ".git" / "info" / "exclude").open("a") as file:
            file.write(f"/{name}\n")


def on_disk(place: Path) -> World:
    tree = new_worktree(place)
    return World(
        git=LocalGit(tree.env),
        clones=CachedClones(str(place / "cache"), tree.env, on_note=lambda _: None),
        project=DiskProject(tree=tree),
        folder=tree.folder,
        elsewhere=str(place),
    )


def in_memory(place: Path) -> World:
    folder = str(place / "project")
    repository = FakeRepository()
    return World(
        git=FakeGit(repositories={folder: repository}),
        clones=FakeClones(folders={(f"file://{folder}", branch): str(place / "clone") for branch in (None, "main")}),
        project=MemoryProject(repository=repository),
        folder=folder,
        elsewhere=str(place),
    )


@pytest.fixture(params=[on_disk, in_memory])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    world: World = request.param(tmp_path)
    return world


@pytest.fixture
def started(world: World) -> World:
    """Two commits, and a change of each kind that is not committed."""
    world.project.commit("first", {"a.txt": b"one\n", "sub/b.txt": b"two\n", "sub/gone.txt": b"gone\n"})
    world.project.commit("second", {"sub/b.txt": b"three\n"})
    world.project.write("a.txt", b"1\n")
    world.project.remove("sub/gone.txt")
    world.project.write("sub/new.txt", b"new\n")
    return world


def test_a_diff_shows_what_is_not_committed(started: World) -> None:
    diff = started.git.diff(started.folder, None)
    assert b"diff --git a/a.txt b/a.txt\n" in diff
    assert b"--- a/a.txt\n+++ b/a.txt\n" in diff
    assert b"-one\n+1\n" in diff
    assert b"+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n" in diff
    assert b"new.txt" not in diff
    assert b"\x1b" not in diff


def test_a_diff_of_a_folder_is_relative_to_it(started: World) -> None:
    diff = started.git.diff(f"{started.folder}/sub", None)
    assert b"diff --git a/gone.txt b/gone.txt\n" in diff
    assert b"a.txt" not in diff


def test_a_diff_starts_at_the_revision(started: World) -> None:
    assert b"-two\n+three\n" in started.git.diff(started.folder, "HEAD~1")
    assert b"three" not in started.git.diff(started.folder, "HEAD")


def test_there_is_no_diff_without_changes(world: World) -> None:
    assert world.git.diff(world.folder, None) == b""
    world.project.commit("first", {"a.txt": b"one\n"})
    assert world.git.diff(world.folder, None) == b""
    assert world.git.changed_files(world.folder, "HEAD") == ()


def test_two_revisions_are_compared(started: World) -> None:
    diff = started.git.compare(started.folder, ".", "HEAD~1", "HEAD")
    assert b"-two\n+three\n" in diff
    assert diff.count(b"diff --git ") == 1
    assert started.git.compare(started.folder, ".", "HEAD", "HEAD") == b""


def test_a_file_or_a_folder_is_compared_with_the_working_tree(started: World) -> None:
    whole = started.git.compare(started.folder, ".", "HEAD", None)
    assert b"diff --git a/a.txt b/a.txt\n" in whole
    assert b"diff --git a/sub/gone.txt b/sub/gone.txt\n" in whole
    assert b"new.txt" not in whole
    one = started.git.compare(started.folder, "a.txt", "HEAD", None)
    assert b"-one\n+1\n" in one
    assert b"gone.txt" not in one
    assert started.git.compare(started.folder, "sub", "HEAD", None).count(b"diff --git ") == 1
    assert b"diff --git a/gone.txt b/gone.txt\n" in started.git.compare(f"{started.folder}/sub", ".", "HEAD", None)


def test_a_moved_file_is_one_that_goes_and_one_that_comes(world: World) -> None:
    world.project.commit("first", {"old.txt": b"the same\n" * 9})
    world.project.remove("old.txt")
    world.project.commit("second", {"new.txt": b"the same\n" * 9})
    diff = world.git.compare(world.folder, ".", "HEAD~1", "HEAD")
    assert b"diff --git a/old.txt b/old.txt\n" in diff
    assert b"diff --git a/new.txt b/new.txt\n" in diff


def test_before_the_first_commit_everything_tracked_is_new(world: World) -> None:
    assert world.git.compare(world.folder, ".", "HEAD", None) == b""


def test_changed_files_are_those_that_differ_and_the_new_ones(started: World) -> None:
    assert started.git.changed_files(started.folder, "HEAD") == ("a.txt", "sub/new.txt")
    assert started.git.changed_files(started.folder, "HEAD~") == ("a.txt", "sub/b.txt", "sub/new.txt")
    assert started.git.changed_files(f"{started.folder}/sub", "HEAD~") == ("b.txt", "new.txt")


def test_ignored_files_are_not_changed_ones(started: World) -> None:
    started.project.ignore("sub/new.txt")
    assert started.git.changed_files(started.folder, "HEAD") == ("a.txt",)


def test_a_hash_is_a_revision(world: World) -> None:
    first = world.project.commit("first", {"a.txt": b"one\n"})
    world.project.commit("second", {"a.txt": b"two\n"})
    assert world.git.changed_files(world.folder, first) == ("a.txt",)


def test_a_log_tells_the_newest_commits_with_their_files(started: World) -> None:
    log = started.git.log(started.folder, 5).decode()
    second, first = log.split("\n\ncommit ")
    assert second.splitlines()[1:] == [
        "Author: Ada",
        "Date:   2024-05-06T07:08:09+00:00",
        "",
        "    second",
        "",
        "M\tsub/b.txt",
    ]
    assert first.splitlines()[-3:] == ["A\ta.txt", "A\tsub/b.txt", "A\tsub/gone.txt"]
    assert len(second.splitlines()[0]) == len("commit ") + 40
    assert started.git.log(started.folder, 1).decode() == f"{second}\n"


def test_a_log_of_a_folder_is_about_that_folder(started: World) -> None:
    started.project.commit("third", {"a.txt": b"again\n"})
    log = started.git.log(f"{started.folder}/sub", 5).decode()
    assert "    third" in log, "a file below it went"
    assert "a.txt" not in log
    assert "M\tb.txt" in log


def test_there_is_no_log_before_the_first_commit(world: World) -> None:
    assert world.git.log(world.folder, 3) == b""


def test_recency_counts_commits_back(started: World) -> None:
    assert started.git.recency(started.folder) == {"sub/b.txt": 0, "a.txt": 1, "sub/gone.txt": 1}
    assert started.git.recency(f"{started.folder}/sub") == {"b.txt": 0, "gone.txt": 1}


def test_there_is_no_recency_without_history(world: World) -> None:
    assert world.git.recency(world.folder) == {}
    assert world.git.recency(world.elsewhere) == {}


def test_a_folder_in_no_repository_is_not_found(world: World) -> None:
    with pytest.raises(NotFound, match="not in a git repository"):
        world.git.diff(world.elsewhere, None)
    with pytest.raises(NotFound, match="not in a git repository"):
        world.git.compare(world.elsewhere, ".", "HEAD", None)
    with pytest.raises(NotFound, match="not in a git repository"):
        world.git.changed_files(world.elsewhere, "HEAD")
    with pytest.raises(NotFound, match="not in a git repository"):
        world.git.log(world.elsewhere, 1)


@pytest.mark.parametrize("rev", ["--output=x", "nope", "HEAD~9", "", ":/first", "HEAD@{1}"])
def test_what_is_no_revision_is_bad_input(started: World, rev: str) -> None:
    with pytest.raises(BadInput, match="revision: '"):
        started.git.diff(started.folder, rev)
    with pytest.raises(BadInput, match="revision: '"):
        started.git.compare(started.folder, ".", rev, None)
    with pytest.raises(BadInput, match="revision: '"):
        started.git.compare(started.folder, ".", "HEAD", rev)
    with pytest.raises(BadInput, match="revision: '"):
        started.git.changed_files(started.folder, rev)


def test_a_log_needs_a_count(started: World) -> None:
    with pytest.raises(BadInput):
        started.git.log(started.folder, 0)


def test_a_clone_stays_where_it_is(started: World) -> None:
    url = f"file://{started.folder}"
    assert started.clones.clone(url, None) == started.clones.clone(url, None)
    assert started.clones.clone(url, "main")


def test_a_clone_is_judged_before_it_is_made(started: World) -> None:
    url = f"file://{started.folder}"
    with pytest.raises(BadInput):
        started.clones.clone("ext::sh", None)
    with pytest.raises(BadInput):
        started.clones.clone(url, "--upload-pack=x")
    with pytest.raises(NotFound):
        started.clones.clone(url, "nope")
    with pytest.raises(Unavailable):
        started.clones.clone(f"{url}-missing", None)
