import os
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from fakes.trees import plant
from marid.workspace.guard.protected_files import ListingFilter, ProtectedFiles


@pytest.mark.parametrize(
    ("home", "root", "inside"),
    [
        ("", "/r", None),
        ("/h", "/r", None),
        ("/r/h", "/r", "h"),
        ("/r/a/h", "/r", "a/h"),
        ("/r", "/r", "."),
        ("/h", "/h/project", "."),
        ("/rr", "/r", None),
        ("/r", "/rr", None),
        ("/h", "/", "h"),
        ("/", "/r", "."),
    ],
)
def test_where_the_home_lies_beneath_a_root(home: str, root: str, inside: str | None) -> None:
    assert ProtectedFiles(home).home_below(root) == inside


def test_a_file_with_one_name_is_never_another_file(tmp_path: Path) -> None:
    plant(tmp_path, {"history.toml": "x"})
    assert not ProtectedFiles("", [str(tmp_path)]).is_protected_link(os.stat(tmp_path / "history.toml"))


def test_a_hard_link_to_a_history_or_into_the_home_is_found(tmp_path: Path) -> None:
    plant(tmp_path, {"r/d/history.toml": "x", "r/a.txt": "a", "home/log": "l"})
    withheld = ProtectedFiles(str(tmp_path / "home"), [str(tmp_path / "r")])
    os.link(tmp_path / "r/a.txt", tmp_path / "r/b.txt")
    assert not withheld.is_protected_link(os.stat(tmp_path / "r/b.txt"))
    os.link(tmp_path / "r/d/history.toml", tmp_path / "r/c.txt")
    assert withheld.is_protected_link(os.stat(tmp_path / "r/c.txt"))
    os.link(tmp_path / "home/log", tmp_path / "r/d.txt")
    assert withheld.is_protected_link(os.stat(tmp_path / "r/d.txt"))


class Seen(NamedTuple):
    st_dev: int
    st_ino: int
    st_nlink: int
    st_ctime_ns: int


def seen(path: Path, changed: int) -> Seen:
    about = os.stat(path)
    return Seen(about.st_dev, about.st_ino, 2, changed)


def test_what_was_named_before_the_last_look_is_not_looked_for_again(tmp_path: Path) -> None:
    plant(tmp_path, {"history.toml": "x", "a.txt": "a"})
    withheld = ProtectedFiles("", [str(tmp_path)])
    history = seen(tmp_path / "history.toml", time.time_ns() - 10**9)
    assert withheld.is_protected_link(history)
    (tmp_path / "history.toml").rename(tmp_path / "b.txt")
    assert withheld.is_protected_link(history)
    assert not withheld.is_protected_link(history._replace(st_ctime_ns=time.time_ns()))


def test_a_file_from_the_future_does_not_make_every_read_a_search(tmp_path: Path) -> None:
    plant(tmp_path, {"history.toml": "x"})
    withheld = ProtectedFiles("", [str(tmp_path)])
    history = seen(tmp_path / "history.toml", time.time_ns() + 3600 * 10**9)
    assert withheld.is_protected_link(history)
    (tmp_path / "history.toml").rename(tmp_path / "b.txt")
    assert withheld.is_protected_link(history)


def test_the_home_is_taken_out_of_the_folder_that_holds_it_only(tmp_path: Path) -> None:
    plant(tmp_path, {"sub/.marid/x": "", "other/.marid/x": ""})
    blinkers = ListingFilter(ProtectedFiles(str(tmp_path / "sub/.marid")), str(tmp_path))
    for folder, names in (("sub", ["a"]), ("other", [".marid", "a"])):
        fd = os.open(tmp_path / folder, os.O_RDONLY)
        assert blinkers.visible_names([".marid", "a"], fd) == names
        os.close(fd)


def test_a_home_that_is_not_there_hides_nothing(tmp_path: Path) -> None:
    blinkers = ListingFilter(ProtectedFiles(str(tmp_path / "sub/.marid")), str(tmp_path))
    fd = os.open(tmp_path, os.O_RDONLY)
    assert blinkers.visible_names([".marid"], fd) == [".marid"]
    os.close(fd)
