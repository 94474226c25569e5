import os
import socket
from pathlib import Path

import pytest

from fakes.files import as_nobody, both_openers
from fakes.trees import plant, plant_names, scratch
from marid.core.errors import BadInput, Exhausted, NotFound, Refused, Unavailable
from marid.workspace.dirfd_walk import read_all
from marid.workspace.guard.guarded_path import (
    FolderEntry,
    GuardedLister,
    GuardedPath,
    GuardedRoot,
    OpenFolder,
    make_entry,
)
from marid.workspace.guard.openat import OpenBeneath
from marid.workspace.guard.path_scope import PathScope
from marid.workspace.guard.protected_files import ProtectedFiles


def place(top: Path | str, name: str, home: str = "", opening: OpenBeneath | None = None) -> GuardedPath:
    return PathScope([str(top)], home=home, opening=opening).resolve(name)


def walked(where: GuardedPath, *, ignored: bool = False, hidden: bool = True) -> dict[str, list[str]]:
    return {folder.path: folder.names for folder in where.walk(ignored=ignored, hidden=hidden)}


@both_openers
def test_a_file_is_read_whole(tmp_path: Path, opening: OpenBeneath) -> None:
    plant(tmp_path, {"a/b.txt": "text", "empty": ""})
    assert place(tmp_path, "a/b.txt", opening=opening).read() == b"text"
    assert place(tmp_path, "empty", opening=opening).read() == b""


def test_a_file_beyond_the_limit_is_refused_before_a_byte_is_read(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "12345"})
    assert place(tmp_path, "a").read(5) == b"12345"
    with pytest.raises(Exhausted, match="larger than 4 bytes"):
        place(tmp_path, "a").read(4)
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(Exhausted):
        place(tmp_path, "huge").read()


def test_a_file_that_says_it_is_empty_and_is_not_is_measured_by_what_it_gives() -> None:
    assert b"MemTotal" in place("/proc", "meminfo").read()
    with pytest.raises(Exhausted):
        place("/proc", "meminfo").read(50)


def test_a_file_that_grows_or_shrinks_meanwhile_is_read_as_it_is(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "12345"})
    fd = os.open(tmp_path / "a", os.O_RDONLY)
    for told in (0, 3, 5, 9):
        os.lseek(fd, 0, os.SEEK_SET)
        assert read_all(fd, told, 100) == b"12345"
    os.lseek(fd, 0, os.SEEK_SET)
    assert read_all(fd, 2, 4) is None
    os.close(fd)


@both_openers
def test_what_is_no_regular_file_is_said_to_be_none_at_once(tmp_path: Path, opening: OpenBeneath) -> None:
    os.mkfifo(tmp_path / "pipe")
    plant(tmp_path, {"folder/": ""})
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{tmp_path}/socket")
        for name in ("pipe", "socket"):
            with pytest.raises(BadInput, match=f"{name}.* not a regular file"):
                place(tmp_path, name, opening=opening).read()
    with pytest.raises(BadInput, match="'folder' is a folder"):
        place(tmp_path, "folder", opening=opening).read()


def test_a_device_is_no_regular_file() -> None:
    for name in ("zero", "null"):
        with pytest.raises(BadInput, match="not a regular file"):
            place("/dev", name).read()


def test_messages_name_the_path_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=f"^{tmp_path}/x/../y: not found$"):
        place(tmp_path, f"{tmp_path}/x/../y").read()
    with pytest.raises(NotFound, match=r"^y: not found$"):
        GuardedPath(root=place(tmp_path, ".").root, name="y").read()


def test_a_file_without_permission_is_refused_and_still_listed() -> None:
    with scratch() as top:
        plant(top, {"closed": "x", "open": "", "shut/a": ""})
        os.chmod(f"{top}/closed", 0)
        os.chmod(f"{top}/shut", 0)
        with as_nobody():
            with pytest.raises(Refused, match="permission denied"):
                place(top, "closed").read()
            assert [entry.name for entry in place(top, ".").entries()] == ["closed", "open", "shut"]
            assert walked(place(top, ".")) == {"": ["closed", "open"]}
            with pytest.raises(Refused, match="permission denied"):
                place(top, "shut").entries()
            with pytest.raises(Refused, match="permission denied"):
                walked(place(top, "shut"))
        os.chmod(f"{top}/shut", 0o700)


def test_a_folder_that_may_be_listed_but_not_entered_shows_names_without_sizes() -> None:
    with scratch() as top:
        plant(top, {"half/a": "x", "half/b/c": ""})
        os.chmod(f"{top}/half", 0o444)
        with as_nobody():
            assert place(top, "half").entries() == [FolderEntry("a", "file", 0), FolderEntry("b", "dir", 0)]
        os.chmod(f"{top}/half", 0o700)


def test_what_is_there_is_told(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "abc", "d/": ""})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("a")
    assert [place(tmp_path, name).kind() for name in ("a", "d", "pipe", "link")] == ["file", "dir", "other", "file"]
    assert place(tmp_path, "a").stat().st_size == 3
    assert place(tmp_path, "d").is_folder()
    assert not place(tmp_path, "a").is_folder()
    with pytest.raises(NotFound):
        place(tmp_path, "x").is_folder()


def test_entries_show_links_as_links_and_odd_names_as_they_are(tmp_path: Path) -> None:
    plant(tmp_path, {"a.txt": "abc", "d/x": "", "\udcff.txt": "", "history.toml": "", ".git/x": ""})
    (tmp_path / "self").symlink_to(".")
    os.mkfifo(tmp_path / "pipe")
    found = place(tmp_path, ".").entries()
    kinds = {entry.name: entry.kind for entry in found}
    links = {"self": "link", "pipe": "other"}
    assert kinds == {".git": "dir", "a.txt": "file", "d": "dir", "\udcff.txt": "file", **links}
    assert found == sorted(found)


def test_entries_of_a_file_are_an_error(tmp_path: Path) -> None:
    plant(tmp_path, {"a.txt": ""})
    for look in (place(tmp_path, "a.txt").entries, lambda: walked(place(tmp_path, "a.txt"))):
        with pytest.raises(BadInput, match=r"'a\.txt' is a file, not a folder"):
            look()


def test_an_entry_that_vanishes_is_left_out(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "", "b": ""})
    with os.scandir(tmp_path) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    (tmp_path / "a").unlink()
    fd = os.open(tmp_path, os.O_RDONLY)
    assert [make_entry(entry, fd) for entry in entries] == [None, FolderEntry("b", "file", 0)]
    os.close(fd)


def test_a_walk_goes_through_every_folder_once_in_order(tmp_path: Path) -> None:
    plant_names(tmp_path, "z.txt", "b/x.txt", "a/c/y.txt", "a/a.txt", "empty/d/e/f.txt")
    found = list(walked(place(tmp_path, ".")).items())
    deep: list[tuple[str, list[str]]] = [("empty", []), ("empty/d", []), ("empty/d/e", ["f.txt"])]
    assert found == [("", ["z.txt"]), ("a", ["a.txt"]), ("a/c", ["y.txt"]), ("b", ["x.txt"]), *deep]
    first = next(iter(place(tmp_path, ".").walk()))
    assert first.folders == ["a", "b", "empty"]


def test_a_walk_from_a_folder_names_paths_from_there(tmp_path: Path) -> None:
    plant_names(tmp_path, "a/b/c/d.txt", "a/e.txt")
    assert walked(place(tmp_path, "a")) == {"": ["e.txt"], "b": [], "b/c": ["d.txt"]}


def test_a_walk_heeds_ignore_files_above_where_it_begins_unless_told_otherwise(tmp_path: Path) -> None:
    plant(tmp_path, {".git/HEAD": "x", ".git/config": "", ".gitignore": "*.log2\n/sub/no/\n", "sub/.ignore": "b.txt\n"})
    plant_names(tmp_path, "sub/a.txt", "sub/a.log2", "sub/b.txt", "sub/no/c.txt", "sub/node_modules/d.js")
    assert walked(place(tmp_path, "sub")) == {"": [".ignore", "a.txt"]}
    everything = {"": [".ignore", "a.log2", "a.txt", "b.txt"], "no": ["c.txt"], "node_modules": ["d.js"]}
    assert walked(place(tmp_path, "sub"), ignored=True) == everything
    assert walked(place(tmp_path, "sub/node_modules")) == {"": ["d.js"]}


def test_context_rules_do_not_rule_over_tools(tmp_path: Path) -> None:
    plant(tmp_path, {".contextfiles": "!a.py\n", "a.py": "", "b.py": ""})
    assert walked(place(tmp_path, "."))[""] == ["a.py", "b.py"]


def test_the_rules_of_a_repository_inside_begin_anew(tmp_path: Path) -> None:
    plant(tmp_path, {".git/HEAD": "", ".git/config": "", ".gitignore": "a.txt\n"})
    plant(tmp_path, {"inner/.git/HEAD": "", "inner/.git/config": "", "inner/a.txt": "", "other/a.txt": ""})
    assert walked(place(tmp_path, ".")) == {"": [".gitignore"], "inner": ["a.txt"], "other": []}


@pytest.mark.parametrize("ignored", [True, False])
def test_a_walk_never_shows_git_nor_histories(tmp_path: Path, ignored: bool) -> None:
    plant(
        tmp_path,
        {".gitignore": "!.git\n", ".git/config": "", "sub/.git": "gitdir: ../x", "sub/a": "", "history.toml": ""},
    )
    plant(tmp_path, {"sub/x_history.toml": "", "sub/History.toml": ""})
    assert walked(place(tmp_path, "."), ignored=ignored) == {"": [".gitignore"], "sub": ["a"]}


def test_a_walk_may_leave_out_hidden_names_whose_rules_still_hold(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {".gitignore": "b\n", ".hidden/x": "", "a": "", "b": "", ".git/HEAD": "", ".git/config": "", "c/.x": ""},
    )
    assert walked(place(tmp_path, "."), hidden=False) == {"": ["a"], "c": []}


def test_links_are_named_and_not_followed(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a.txt": "", "r/d/b.txt": "", "out/secret.txt": "canary"})
    (tmp_path / "r/self").symlink_to(".")
    (tmp_path / "r/out").symlink_to("../out")
    found = list(place(tmp_path / "r", ".").walk())
    assert [(folder.path, folder.names, sorted(folder.links)) for folder in found] == [
        ("", ["a.txt"], ["out", "self"]),
        ("d", ["b.txt"], []),
    ]


def test_a_walk_may_begin_at_a_link_that_stays_inside(tmp_path: Path) -> None:
    plant(tmp_path, {"r/d/b.txt": ""})
    (tmp_path / "r/link").symlink_to("d")
    (tmp_path / "r/out").symlink_to("..")
    assert walked(place(tmp_path / "r", "link")) == {"": ["b.txt"]}
    with pytest.raises(Refused, match="outside"):
        walked(place(tmp_path / "r", "out"))


def test_a_home_inside_the_root_is_not_there_for_anybody(tmp_path: Path) -> None:
    plant(tmp_path, {"sub/home/key": "canary", "sub/a.txt": ""})
    home = str(tmp_path / "sub/home")
    (tmp_path / "way").symlink_to("sub/home")
    assert walked(place(tmp_path, ".", home), ignored=True) == {"": [], "sub": ["a.txt"]}
    assert [entry.name for entry in place(tmp_path, "sub", home).entries()] == ["a.txt"]
    with pytest.raises(Refused, match="protected"):
        place(tmp_path, "way", home).entries()
    with pytest.raises(Refused, match="protected"):
        place(tmp_path, "way/key", home).read()
    (tmp_path / "sub/home/inner").mkdir()
    for number, target in enumerate(("sub/home/inner/..", "sub/home/.", "sub/home/inner/../inner", "sub/../sub/home")):
        (tmp_path / f"way{number}").symlink_to(target)
        for look in (
            place(tmp_path, f"way{number}", home).entries,
            lambda at=number: walked(place(tmp_path, f"way{at}", home)),
        ):
            with pytest.raises(Refused, match="protected"):
                look()


def test_a_hard_link_is_read_unless_it_is_a_withheld_file(tmp_path: Path) -> None:
    plant(tmp_path, {"r/history.toml": "canary", "out.txt": "fine"})
    os.link(tmp_path / "r/history.toml", tmp_path / "r/notes.txt")
    os.link(tmp_path / "out.txt", tmp_path / "r/linked.txt")
    where = place(tmp_path / "r", ".")
    assert where.below("linked.txt").read() == b"fine"
    with pytest.raises(Refused, match=r"notes\.txt: protected"):
        GuardedPath(root=where.root, name="notes.txt").read()
    (folder,) = where.walk()
    assert folder.names == ["linked.txt", "notes.txt"]
    assert (folder.read("linked.txt"), folder.read("notes.txt")) == (None, None)  # closed by now
    for folder in where.walk():
        assert (folder.read("linked.txt"), folder.read("notes.txt")) == (b"fine", None)


def test_what_a_walk_found_is_read_from_the_open_folder(tmp_path: Path) -> None:
    plant(tmp_path, {"r/a": "12345", "r/history.toml": "canary", "out": "canary"})
    os.mkfifo(tmp_path / "r/pipe")
    (tmp_path / "r/link").symlink_to("a")
    for folder in place(tmp_path / "r", ".").walk():
        assert folder.read("a") == b"12345"
        assert folder.read("a", 4) is None
        names = ("gone", "pipe", "link", "history.toml", "../out", str(tmp_path / "out"), "..", ".")
        assert [folder.read(name) for name in names] == [None] * 8


def test_what_lies_below_a_place_is_a_place(tmp_path: Path) -> None:
    plant(tmp_path, {"a/b/c.txt": "c"})
    below = place(tmp_path, "./a").below("b/c.txt")
    assert (below.name, below.given, below.read()) == ("a/b/c.txt", "a/b/c.txt", b"c")
    for bad in ("", "/etc", "../x", "b/../../.."):
        with pytest.raises(BadInput):
            place(tmp_path, "a").below(bad)


def test_places_are_equal_however_they_were_spelled(tmp_path: Path) -> None:
    territory = PathScope([str(tmp_path)])
    assert territory.resolve("a") == territory.resolve("./a")


def test_a_look_leaves_what_rules_in_its_rules(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "", ".git/": "", "a": ""})
    look = GuardedLister(GuardedRoot(str(tmp_path)), hidden=False)
    fd = os.open(tmp_path, os.O_RDONLY)
    found = look(fd)
    os.close(fd)
    assert (found.files, found.folders, found.rules) == (["a"], [], [".gitignore", ".git"])


def test_a_file_that_breaks_while_it_is_read_is_not_available() -> None:
    where = place(f"/proc/{os.getpid()}", "mem")
    with pytest.raises(Unavailable, match="mem: input/output error"):
        where.read()
    with pytest.raises(Unavailable, match="mem: "), where.open_regular() as fd:
        os.read(fd, 1)
    folder = OpenFolder("", [], [], os.open(f"/proc/{os.getpid()}", os.O_RDONLY), [], ProtectedFiles())
    assert folder.read("mem") is None
    os.close(folder.fd)


def test_a_file_that_is_too_large_to_be_read_whole_is_opened(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "12345", "d/": ""})
    with place(tmp_path, "a").open_regular() as fd:
        assert os.pread(fd, 2, 3) == b"45"
    with pytest.raises(BadInput, match="'d' is a folder"), place(tmp_path, "d").open_regular():
        pass
