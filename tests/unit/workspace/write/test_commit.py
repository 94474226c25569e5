import os
import resource
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes.files import FakeChange, as_nobody, change_to, file_contents
from fakes.trees import plant, scratch
from marid.core.errors import BadInput, Exhausted, Refused, Unavailable
from marid.workspace.guard.path_scope import PathScope
from marid.workspace.write.commit import MAX_WRITTEN_BYTES, commit, random_token


def home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


@contextmanager
def at_most(size: int) -> Generator[None]:
    """A disk that takes no larger file: the nearest thing to a full one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_is_replaced_and_a_new_one_made_with_its_folders(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "old"})
    top = tmp_path / "r"
    commit([change_to(top, "a", b"old", b"new")])
    commit([change_to(top, "b/c/d", None, b"made")], home(tmp_path))
    assert file_contents(top) == {"a": b"new", "b/c/d": b"made"}
    assert file_contents(tmp_path / "home") == {"edits/": b""}


def test_several_files_are_written_together(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "1", "r/d/b": "2"})
    top = tmp_path / "r"
    changes = [
        change_to(top, "a", b"1", b"one"),
        change_to(top, "d/b", b"2", b"two"),
        change_to(top, "d/new", None, b"three"),
    ]
    commit(changes, home(tmp_path))
    assert file_contents(top) == {"a": b"one", "d/b": b"two", "d/new": b"three"}


def test_nothing_to_do_is_done(tmp_path: Path) -> None:
    commit([], home(tmp_path))
    assert not os.path.exists(home(tmp_path))


@pytest.mark.parametrize(("before", "now"), [(b"old", b"other"), (b"old", b"olds"), (None, b"there"), (b"old", None)])
def test_a_file_that_has_changed_since_is_left_alone(tmp_path: Path, before: bytes | None, now: bytes | None) -> None:
    if now is not None:
        plant(tmp_path, {"a": now})
    expected = file_contents(tmp_path)
    with pytest.raises(BadInput, match="'a' has changed since it was read; read it again"):
        commit([change_to(tmp_path, "x/new", None, b"x"), change_to(tmp_path, "a", before, b"new")])
    assert file_contents(tmp_path) == expected


def test_mode_owner_and_attributes_are_kept_and_special_rights_are_not(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "old"})
    os.chmod(tmp_path / "a", 0o4751)
    os.setxattr(tmp_path / "a", "user.note", b"kept")
    if os.geteuid() == 0:
        os.chown(tmp_path / "a", 65534, 65534)
        os.chmod(tmp_path / "a", 0o4751)
    owner = os.stat(tmp_path / "a").st_uid
    commit([change_to(tmp_path, "a", b"old", b"new")])
    about = os.stat(tmp_path / "a")
    assert (about.st_mode & 0o7777, about.st_uid) == (0o751, owner)
    assert os.getxattr(tmp_path / "a", "user.note") == b"kept"


def test_a_new_file_gets_the_rights_that_the_user_wants_for_new_files(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        commit([change_to(tmp_path, "a", None, b"")])
    finally:
        os.umask(mask)
    assert os.stat(tmp_path / "a").st_mode & 0o777 == 0o640


def test_the_other_name_of_a_hard_link_keeps_its_bytes(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "old"})
    os.link(tmp_path / "r/a", tmp_path / "outside")
    commit([change_to(tmp_path / "r", "a", b"old", b"new")])
    assert (tmp_path / "outside").read_bytes() == b"old"
    assert (tmp_path / "r/a").read_bytes() == b"new"


def test_a_link_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "a", "out": "canary"})
    (tmp_path / "r/in").symlink_to("a")
    (tmp_path / "r/out").symlink_to("../out")
    before = file_contents(tmp_path)
    for name, old in {"in": b"a", "out": b"canary"}.items():
        with pytest.raises(Refused, match="link"):
            commit([change_to(tmp_path / "r", name, old, b"new")])
    assert file_contents(tmp_path) == before


def test_a_target_that_becomes_a_link_at_the_last_moment_is_replaced_and_not_followed(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "old", "out": "canary"})

    def swap(step: str) -> None:
        if step == "staged":
            (tmp_path / "r/a").unlink()
            (tmp_path / "r/a").symlink_to("../out")

    commit([change_to(tmp_path / "r", "a", b"old", b"new")], on_step=swap)
    assert file_contents(tmp_path) == {"r/a": b"new", "out": b"canary"}
    assert not (tmp_path / "r/a").is_symlink()


def test_a_temporary_name_that_is_taken_is_left_alone_and_another_is_used(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "old", "out": "canary"})
    (tmp_path / "r/.marid-one-0.tmp").symlink_to("../out")
    tokens = iter(["one", "two"])
    commit([change_to(tmp_path / "r", "a", b"old", b"new")], home(tmp_path), token=lambda: next(tokens))
    assert file_contents(tmp_path / "r") == {"a": b"new", ".marid-one-0.tmp": b"../out"}
    assert (tmp_path / "out").read_bytes() == b"canary"
    assert file_contents(tmp_path / "home") == {"edits/": b""}


def test_names_that_are_all_taken_are_an_error_and_no_endless_search(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "old", ".marid-one-0.tmp": "theirs"})
    with pytest.raises(Unavailable, match="no free name"):
        commit([change_to(tmp_path, "a", b"old", b"new")], token=lambda: "one")
    assert file_contents(tmp_path) == {"a": b"old", ".marid-one-0.tmp": b"theirs"}


def test_tokens_are_not_guessed() -> None:
    assert len({random_token() for _ in range(100)}) == 100


def test_changes_that_are_too_large_or_twice_in_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Exhausted, match="'x/a' would be larger than 64"):
        commit([change_to(tmp_path, "x/a", None, bytes(MAX_WRITTEN_BYTES + 1))])
    assert file_contents(tmp_path) == {}
    with pytest.raises(BadInput, match="twice"):
        commit([change_to(tmp_path, "a", None, b"1"), change_to(tmp_path, "./a", None, b"2")])
    assert file_contents(tmp_path) == {}


def test_a_disk_that_takes_no_more_leaves_everything_as_it_was(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "old", "r/b": "old"})
    top = tmp_path / "r"
    changes = [
        change_to(top, "a", b"old", b"new"),
        change_to(top, "b", b"old", b"x" * 100_000),
        change_to(top, "c/d", None, b"y"),
    ]
    with at_most(50_000), pytest.raises(Unavailable, match="b: file too large"):
        commit(changes, home(tmp_path))
    assert file_contents(top) == {"a": b"old", "b": b"old"}
    assert file_contents(tmp_path / "home") == {"edits/": b""}


def test_a_folder_that_may_not_be_written_is_refused() -> None:
    with scratch() as top:
        plant(top, {"a": "old"})
        os.chmod(top, 0o555)
        with as_nobody(), pytest.raises(Refused, match="permission denied"):
            commit([change_to(top, "a", b"old", b"new")])
        assert file_contents(top) == {"a": b"old"}


def test_a_read_only_file_in_a_folder_of_ours_is_replaced_as_editors_do(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "old"})
    os.chmod(tmp_path / "a", 0o444)
    commit([change_to(tmp_path, "a", b"old", b"new")])
    assert os.stat(tmp_path / "a").st_mode & 0o777 == 0o444


@pytest.mark.parametrize(
    "end", [("renamed", 1), ("renamed", 2), ("ready", 1), ("staged", 2), ("noted", 1), ("compared", 1)]
)
def test_what_goes_wrong_between_two_files_is_taken_back(tmp_path: Path, end: tuple[str, int]) -> None:
    plant(tmp_path, {"r/a": "1", "r/b": "2"})
    top = tmp_path / "r"
    left = [end[1]]

    def break_off(step: str) -> None:
        left[0] -= step == end[0]
        if step == end[0] and not left[0]:
            raise KeyboardInterrupt

    changes = [
        change_to(top, "a", b"1", b"one"),
        change_to(top, "n/c", None, b"three"),
        change_to(top, "b", b"2", b"two"),
    ]
    with pytest.raises(KeyboardInterrupt):
        commit(changes, home(tmp_path), on_step=break_off)
    assert file_contents(top) == {"a": b"1", "b": b"2"}
    assert file_contents(tmp_path / "home") in ({"edits/": b""}, {})


def test_after_the_last_rename_there_is_no_way_back(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "1", "b": "2"})

    def break_off(step: str) -> None:
        if step == "synced":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        commit([change_to(tmp_path, "a", b"1", b"one"), change_to(tmp_path, "b", b"2", b"two")], on_step=break_off)
    assert file_contents(tmp_path) == {"a": b"one", "b": b"two"}


def test_what_cannot_be_taken_back_stays_noted_for_the_next_start(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "1", "r/b": "2"})
    top = tmp_path / "r"

    def sabotage(step: str) -> None:
        if step == "renamed":
            for name in os.listdir(top):
                if name.endswith("-0.old.tmp"):
                    os.unlink(top / name)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        commit([change_to(top, "a", b"1", b"one"), change_to(top, "b", b"2", b"two")], home(tmp_path), on_step=sabotage)
    assert len(file_contents(tmp_path / "home")) == 1
    assert (top / "a").read_bytes() == b"one"


def test_of_two_edits_of_one_file_at_once_one_wins_and_the_other_is_told(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "0"})
    start = threading.Barrier(8)
    outcomes: list[str] = []

    def edit(number: int) -> None:
        start.wait(10)
        try:
            commit([change_to(tmp_path, "a", b"0", b"%d" % number * 1000)], home(tmp_path))
        except BadInput:
            outcomes.append("stale")
        else:
            outcomes.append("won")

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["stale"] * 7 + ["won"]
    (text,) = set((tmp_path / "a").read_bytes())
    assert text != ord("0")


def test_no_edit_of_many_by_turns_is_lost(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "", "b": ""})

    def add() -> None:
        for _ in range(10):
            while True:
                old = (tmp_path / "a").read_bytes()
                other = (tmp_path / "b").read_bytes()
                try:
                    commit([change_to(tmp_path, "b", other, other + b"x"), change_to(tmp_path, "a", old, old + b"x")])
                except BadInput:
                    continue
                break

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file_contents(tmp_path) == {"a": b"x" * 40, "b": b"x" * 40}


def test_a_single_granted_file_is_written_and_nothing_beside_it(tmp_path: Path) -> None:
    plant(tmp_path, {"etc/one": "1", "etc/two": "2"})
    territory = PathScope([], [str(tmp_path / "etc/one")])
    place = territory.resolve(f"{tmp_path}/etc/one", write=True)
    commit([FakeChange(path=place, before=b"1", after=b"new")])
    assert file_contents(tmp_path) == {"etc/one": b"new", "etc/two": b"2"}


def test_no_descriptor_is_lost(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "1"})
    territory = PathScope([str(tmp_path)])
    before = len(os.listdir("/proc/self/fd"))
    commit([FakeChange(path=territory.resolve("a"), before=b"1", after=b"2")], home(tmp_path))
    with pytest.raises(BadInput):
        commit([FakeChange(path=territory.resolve("a"), before=b"1", after=b"2")], home(tmp_path))
    assert len(os.listdir("/proc/self/fd")) == before
