import os
import socket
from pathlib import Path

import pytest

from fakes.trees import plant, plant_chain, plant_names, scratch
from marid.workspace.dirfd_walk import DirfdWalk, MountLoop, open_file, read_up_to


def names_in(fd: int) -> set[str]:
    return set(os.listdir(fd))


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_folders_are_entered_one_in_another(tmp_path: Path) -> None:
    plant_names(tmp_path, "a/b/c.txt", "a/d.txt", "e/f.txt")
    with DirfdWalk(str(tmp_path)) as descent:
        assert names_in(descent.enter(1, "a")) == {"b", "d.txt"}
        assert names_in(descent.enter(2, "b")) == {"c.txt"}
        assert names_in(descent.enter(1, "e")) == {"f.txt"}


def test_a_path_is_followed_from_where_the_last_one_was_left(tmp_path: Path) -> None:
    plant_names(tmp_path, "a/b/c.txt", "a/d/e.txt")
    with DirfdWalk(str(tmp_path)) as descent:
        deep = descent.follow(["a", "b"])
        assert descent.follow(["a", "b"]) == deep
        assert names_in(descent.follow(["a", "d"])) == {"e.txt"}
        assert names_in(descent.follow([])) == {"a"}


def test_a_link_is_not_entered(tmp_path: Path) -> None:
    plant_names(tmp_path, "real/a.txt")
    (tmp_path / "link").symlink_to("real")
    with DirfdWalk(str(tmp_path)) as descent, pytest.raises(OSError, match="link"):
        descent.enter(1, "link")


@pytest.mark.parametrize("name", ["link", "link/below", "real/../link"])
def test_a_link_on_the_way_to_the_top_is_not_followed_for_it_may_have_come_later(tmp_path: Path, name: str) -> None:
    plant_names(tmp_path, "real/a.txt", "real/below/b.txt")
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(NotADirectoryError):
        DirfdWalk(f"{tmp_path}/{name}")


def test_the_top_may_be_the_whole_machine_and_have_a_relative_name(tmp_path: Path) -> None:
    with DirfdWalk("/") as descent:
        assert "tmp" in names_in(descent.follow([]))
    with DirfdWalk(".") as here:
        assert names_in(here.follow([])) == set(os.listdir("."))


def test_a_folder_that_is_its_own_parent_is_not_entered(tmp_path: Path) -> None:
    plant_names(tmp_path, "a/b.txt")
    with DirfdWalk(str(tmp_path)) as descent:
        descent.enter(1, "a")
        with pytest.raises(MountLoop, match="mounted inside itself"):
            descent.enter(2, ".")  # as a bind mount looks


def test_depth_costs_no_more_than_some_descriptors_and_what_was_left_is_found_again() -> None:
    with scratch() as top:
        plant_chain(top, "d", 500, {"side/a.txt": ""})
        before = open_descriptors()
        with DirfdWalk(top) as descent:
            descent.follow(["d"] * 500)
            assert open_descriptors() - before < 250
            for depth in (450, 270, 30, 1):
                assert names_in(descent.follow([*["d"] * depth, "side"])) == {"a.txt"}
        assert open_descriptors() == before


def test_a_folder_that_was_swapped_for_a_link_is_not_found_again() -> None:
    with scratch() as top:
        plant_chain(top, "d", 300, {"side/a.txt": ""})
        before = open_descriptors()
        with DirfdWalk(top) as descent:
            descent.follow(["d"] * 300)
            os.rename(f"{top}/d/d/d", f"{top}/moved")
            os.symlink(f"{top}/moved", f"{top}/d/d/d")
            with pytest.raises(OSError, match="d"):
                descent.enter(51, "side")
        assert open_descriptors() == before


def test_a_top_that_is_no_folder_cannot_be_descended(tmp_path: Path) -> None:
    plant_names(tmp_path, "a.txt")
    with pytest.raises(NotADirectoryError):
        DirfdWalk(str(tmp_path / "a.txt"))
    with pytest.raises(FileNotFoundError):
        DirfdWalk(str(tmp_path / "nothing"))


def test_only_a_regular_file_is_opened_and_nothing_is_waited_for(tmp_path: Path) -> None:
    plant(tmp_path, {"a.txt": "abc", "folder/": ""})
    os.mkfifo(tmp_path / "fifo")
    folder = os.open(tmp_path, os.O_RDONLY)
    opened = open_file("a.txt", folder)
    assert opened is not None
    assert (opened[1].st_size, os.read(opened[0], 9)) == (3, b"abc")
    os.close(opened[0])
    assert open_file("fifo", folder) is None
    assert open_file("folder", folder) is None
    os.close(folder)


def test_a_link_a_socket_and_a_missing_file_raise(tmp_path: Path) -> None:
    plant(tmp_path, {"a.txt": ""})
    (tmp_path / "link").symlink_to("a.txt")
    folder = os.open(tmp_path, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{folder}/socket")
        for name in ("link", "socket", "missing"):
            with pytest.raises(OSError, match=name):
                open_file(name, folder)
    os.close(folder)


def test_reading_goes_on_until_the_limit_or_the_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"abc")
    os.write(writing, b"def")
    assert read_up_to(reading, 4) == b"abcd"
    os.close(writing)
    assert read_up_to(reading, 4) == b"ef"
    assert read_up_to(reading, 4) == b""
    os.close(reading)


def test_a_stream_that_comes_in_pieces_is_read_whole() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for piece in (b"one", b"two", b"three"):
        theirs.send(piece)
    theirs.close()
    assert read_up_to(ours.fileno(), 8) == b"onetwoth"
    ours.close()


def test_an_open_folder_may_be_the_top_and_is_closed_with_the_rest(tmp_path: Path) -> None:
    plant_names(tmp_path, "a/b.txt")
    before = open_descriptors()
    with DirfdWalk(os.open(tmp_path, os.O_RDONLY)) as descent:
        assert names_in(descent.follow([])) == {"a"}
        assert names_in(descent.enter(1, "a")) == {"b.txt"}
    assert open_descriptors() == before
