"""What the ports Git and Clones promise, on the git program and in memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.git import FakeClones, FakeGit, FakeRepository
from fakes.worktree import new_worktree
from marid.adapters.git.clones import CachedClones
from marid.adapters.git.local_git import LocalGit
from marid.core.errors import BadInput, NotFound, Unavailable
from marid.ports.git import Clones, Git


@dataclass(frozen=True, kw_only=True)
class World:
    """The ports, and what someone does who works in the repository at `folder`."""

    git: Git
    clones: Clones
    folder: str
    elsewhere: str
    commit: Callable[[str, Mapping[str, bytes]], str]
    write: Callable[[str, bytes], None]
    remove: Callable[[str], None]
    ignore: Callable[[str], object]


def on_disk(place: Path) -> World:
    tree = new_worktree(place)
    exclude = tree.path / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    return World(
        git=LocalGit(tree.env),
        clones=CachedClones(str(place / "cache"), tree.env, on_note=lambda _: None),
        folder=tree.folder,
        elsewhere=str(place),
        commit=tree.commit,
        write=tree.write,
        remove=tree.remove,
        ignore=lambda name: exclude.write_text(f"/{name}\n"),
    )


def in_memory(place: Path) -> World:
    folder = str(place / "project")
    repository = FakeRepository()
    return World(
        git=FakeGit(repositories={folder: repository}),
        clones=FakeClones(folders={(f"file://{folder}", branch): str(place / "clone") for branch in (None, "main")}),
        folder=folder,
        elsewhere=str(place),
        commit=repository.commit,
        write=repository.files.__setitem__,
        remove=repository.files.__delitem__,
        ignore=repository.ignored.add,
    )


@pytest.fixture(params=[on_disk, in_memory])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return request.param(tmp_path)


@pytest.fixture
def started(world: World) -> World:
    """Two commits, and a change of each kind that is not committed."""
    world.commit("first", {"a.txt": b"one\n", "sub/b.txt": b"two\n", "sub/gone.txt": b"gone\n"})
    world.commit("second", {"sub/b.txt": b"three\n"})
    world.write("a.txt", b"1\n")
    world.remove("sub/gone.txt")
    world.write("sub/new.txt", b"new\n")
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
    world.commit("first", {"a.txt": b"one\n"})
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
    world.commit("first", {"old.txt": b"the same\n" * 9})
    world.remove("old.txt")
    world.commit("second", {"new.txt": b"the same\n" * 9})
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
    started.ignore("sub/new.txt")
    assert started.git.changed_files(started.folder, "HEAD") == ("a.txt",)


def test_a_hash_is_a_revision(world: World) -> None:
    first = world.commit("first", {"a.txt": b"one\n"})
    world.commit("second", {"a.txt": b"two\n"})
    assert world.git.changed_files(world.folder, first) == ("a.txt",)


def test_a_log_tells_the_newest_commits_with_their_files(started: World) -> None:
    log = started.git.log(started.folder, 5).decode()
    second, first = log.split("\n\ncommit ")
    about = "Author: Ada\nDate:   2024-05-06T07:08:09+00:00\n\n    second\n\nM\tsub/b.txt"
    assert second.partition("\n")[2] == about
    assert first.splitlines()[-3:] == ["A\ta.txt", "A\tsub/b.txt", "A\tsub/gone.txt"]
    assert len(second.splitlines()[0]) == len("commit ") + 40
    assert started.git.log(started.folder, 1).decode() == f"{second}\n"


def test_a_log_of_a_folder_is_about_that_folder(started: World) -> None:
    started.commit("third", {"a.txt": b"again\n"})
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
    git, folder = world.git, world.elsewhere
    diffs = (lambda: git.diff(folder, None), lambda: git.compare(folder, ".", "HEAD", None))
    for ask in (*diffs, lambda: git.changed_files(folder, "HEAD"), lambda: git.log(folder, 1)):
        with pytest.raises(NotFound, match="not in a git repository"):
            ask()


@pytest.mark.parametrize("rev", ["--output=x", "nope", "HEAD~9", "", ":/first", "HEAD@{1}"])
def test_what_is_no_revision_is_bad_input(started: World, rev: str) -> None:
    git, folder = started.git, started.folder
    compares = (lambda: git.compare(folder, ".", rev, None), lambda: git.compare(folder, ".", "HEAD", rev))
    for ask in (*compares, lambda: git.diff(folder, rev), lambda: git.changed_files(folder, rev)):
        with pytest.raises(BadInput, match="revision: '"):
            ask()


def test_a_log_needs_a_count(started: World) -> None:
    with pytest.raises(BadInput, match="at least one commit"):
        started.git.log(started.folder, 0)


def test_a_clone_stays_where_it_is(started: World) -> None:
    url = f"file://{started.folder}"
    assert started.clones.clone(url, None) == started.clones.clone(url, None)
    assert started.clones.clone(url, "main")


def test_a_clone_is_judged_before_it_is_made(started: World) -> None:
    url = f"file://{started.folder}"
    for source, branch, error in (
        ("ext::sh", None, BadInput),
        (url, "--upload-pack=x", BadInput),
        (url, "nope", NotFound),
        (f"{url}-missing", None, Unavailable),
    ):
        with pytest.raises(error):
            started.clones.clone(source, branch)
