import os
import threading
from pathlib import Path

import pytest

from fakes.files import as_nobody, file_contents
from fakes.trees import plant, scratch
from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.workspace.guard.guarded_path import GuardedPath
from marid.workspace.guard.path_scope import PathScope
from marid.workspace.write.parent_folder import ParentFolder, check_writable, lock_folders, open_parent


def place(top: Path | str, name: str) -> GuardedPath:
    return PathScope([str(top)]).resolve(name)


def opened(top: Path | str, name: str) -> ParentFolder:
    return open_parent(place(top, name), make=True)


def test_folders_are_made_on_the_way_and_unmade_again(tmp_path: Path) -> None:
    plant(tmp_path, {"a/x": ""})
    parent = opened(tmp_path, "a/b/c/new.txt")
    assert (parent.name, os.path.isdir(tmp_path / "a/b/c")) == ("new.txt", True)
    parent.sync()
    parent.remove_created()
    parent.close()
    assert file_contents(tmp_path) == {"a/x": b""}


def test_a_folder_that_somebody_has_used_meanwhile_is_not_unmade(tmp_path: Path) -> None:
    parent = opened(tmp_path, "b/c/new.txt")
    plant(tmp_path, {"b/theirs": "x"})
    parent.remove_created()
    parent.close()
    assert file_contents(tmp_path) == {"b/theirs": b"x"}


def test_a_missing_folder_is_made_only_if_that_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="a/b: not found"):
        open_parent(place(tmp_path, "a/b"), make=False)
    assert file_contents(tmp_path) == {}


@pytest.mark.parametrize("name", ["out/x/new.txt", "in/new.txt", "d/up/new.txt", "loop/new.txt"])
def test_no_link_leads_to_a_parent_and_nothing_is_made(tmp_path: Path, name: str) -> None:
    plant(tmp_path, {"r/d/a": "", "outside/": ""})
    for link, target in {"out": "../outside", "in": "d", "d/up": "../..", "loop": "loop"}.items():
        (tmp_path / "r" / link).symlink_to(target)
    before = file_contents(tmp_path)
    with pytest.raises(Refused, match="link"):
        opened(tmp_path / "r", name)
    assert file_contents(tmp_path) == before


def test_what_was_made_before_a_refusal_is_unmade() -> None:
    with scratch() as top:
        os.chmod(top, 0o777)
        with as_nobody():
            mask = os.umask(0o777)  # a folder that is made cannot be entered
            try:
                with pytest.raises(Refused, match="a/b/c: permission denied"):
                    opened(top, "a/b/c")
            finally:
                os.umask(mask)
        assert file_contents(top) == {}


def test_a_file_on_the_way_is_said(tmp_path: Path) -> None:
    plant(tmp_path, {"f": ""})
    with pytest.raises(BadInput, match="'f/x/y' leads through a file"):
        opened(tmp_path, "f/x/y")
    with pytest.raises(BadInput, match="a folder, not a file"):
        opened(tmp_path, ".")


@pytest.mark.parametrize(
    "name",
    [
        "bare/config",
        "bare/hooks/post-checkout",
        "deep/meta/x",
        "tree/config",
        "half/HEAD",
        "half2/refs/heads/x",
        "bare/HEAD",
    ],
)
def test_a_git_directory_of_any_name_is_not_written(tmp_path: Path, name: str) -> None:
    plant(tmp_path, {"bare/HEAD": "", "bare/objects/": "", "bare/refs/": "", ".git": "gitdir: deep/meta"})
    plant(tmp_path, {"deep/meta/HEAD": "", "deep/meta/objects/": "", "deep/meta/refs/": "", "tree/HEAD": ""})
    plant(tmp_path, {"tree/commondir": "../bare", "half/objects/": "", "half/refs/": "", "half2/HEAD": ""})
    plant(tmp_path, {"half2/objects/": ""})
    before = file_contents(tmp_path)
    with pytest.raises(Refused, match="only git may write"):
        opened(tmp_path, name)
    assert file_contents(tmp_path) == before


def test_a_folder_that_only_resembles_one_is_written(tmp_path: Path) -> None:
    plant(tmp_path, {"a/HEAD": "", "a/objects/": ""})
    opened(tmp_path, "a/x").close()


def test_what_cannot_be_written_is_known_beforehand(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "", "d/": "", "history.toml": "x"})
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    os.link(tmp_path / "history.toml", tmp_path / "notes")
    for name in ("a", "new", "no/such/folder/new"):
        check_writable(place(tmp_path, name))
    for name, family in {"d": BadInput, "pipe": BadInput, "link": Refused, "notes": Refused, ".git/x": Refused}.items():
        with pytest.raises(family, match=rf"^'?{name}'?[: ]"):
            check_writable(place(tmp_path, name))


def test_a_folder_without_permission_is_refused() -> None:
    with scratch() as top:
        plant(top, {"d/a": ""})
        with as_nobody(), pytest.raises(Refused, match="permission denied"):
            opened(top, "d/new/x")


def test_two_who_write_into_one_folder_wait_for_each_other(tmp_path: Path) -> None:
    first, second = opened(tmp_path, "a"), opened(tmp_path, "b")
    seen: list[str] = []
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with lock_folders([first]):
            inside.set()
            leave.wait(10)
            seen.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    with pytest.raises(Unavailable, match="'b' is being written by another"), lock_folders([second], timeout=0.02):
        pass
    leave.set()
    with lock_folders([second]):
        seen.append("second")
    thread.join()
    assert seen == ["first", "second"]
    first.close()
    second.close()


def test_one_who_writes_two_files_of_a_folder_does_not_wait_for_himself(tmp_path: Path) -> None:
    parents = [opened(tmp_path, "a"), opened(tmp_path, "b"), opened(tmp_path, "c/d")]
    with lock_folders(parents, timeout=0):
        pass
    for parent in parents:
        parent.close()


def test_a_file_system_that_knows_no_locks_is_written_all_the_same(tmp_path: Path) -> None:
    parent = opened(tmp_path, "a")
    parent.close()
    with lock_folders([parent]):  # a closed descriptor answers as such a file system does
        pass


def test_a_folder_that_cannot_be_synced_is_no_reason_to_fail_and_one_that_breaks_is() -> None:
    parent = open_parent(place("/proc", "x"), make=False)
    parent.sync()
    parent.close()
    with pytest.raises(OSError, match="descriptor"):
        parent.sync()
