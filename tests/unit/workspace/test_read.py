import os
from pathlib import Path

import pytest

from fakes.files import as_nobody
from fakes.trees import Problems, plant, scratch
from marid.workspace.read import HUGE_BYTES, LARGE_BYTES, Content, FileReader, FileSize, measure_files
from marid.workspace.walk import Folder


def read(top: Path | str, *folders: Folder, skip: tuple[int, int] | None = None) -> tuple[list[Content], Problems, int]:
    problems = Problems()
    reader = FileReader(str(top), problems, skip=skip)
    return list(reader.read(folders)), problems, reader.binaries


def test_a_file_is_read_as_it_is_with_its_size_and_time(tmp_path: Path) -> None:
    plant(tmp_path, {"a.txt": "one\n", "d/b.txt": "né"})
    os.utime(tmp_path / "a.txt", (1000, 1000.5))
    contents, problems, _ = read(tmp_path, Folder("", ["a.txt"]), Folder("d", ["b.txt"]))
    assert contents[0] == Content("a.txt", b"one\n", 4, 1000.5, "utf-8")
    assert (contents[1].path, contents[1].data, contents[1].size) == ("d/b.txt", "né".encode(), 3)
    assert problems == []


def test_text_may_be_empty_large_or_in_another_encoding_and_the_size_is_that_on_disk(tmp_path: Path) -> None:
    plant(tmp_path, {"empty": "", "latin": "né".encode("latin-1"), "large": b"x" * (LARGE_BYTES + 10)})
    empty, latin, large = read(tmp_path, Folder("", ["empty", "latin", "large"]))[0]
    assert (empty.data, empty.size) == (b"", 0)
    assert (latin.data, latin.size, latin.encoding) == ("né".encode(), 2, "cp1252")
    assert large.size == len(large.data) == LARGE_BYTES + 10


def test_binary_files_drop_out_and_are_counted(tmp_path: Path) -> None:
    plant(tmp_path, {"a.bin": b"a\0b", "big.bin": b"\0" * (LARGE_BYTES + 1), "a.txt": "text"})
    contents, problems, binaries = read(tmp_path, Folder("", ["a.bin", "a.txt", "big.bin"]))
    assert [content.path for content in contents] == ["a.txt"]
    assert (problems, binaries) == ([], 2)


def test_a_text_file_too_large_for_memory_is_told_and_a_binary_one_costs_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"text": b"hello\n" * 2000, "zeros": b""})
    os.truncate(tmp_path / "text", HUGE_BYTES + 1)
    os.truncate(tmp_path / "zeros", 5 << 30)
    contents, problems, binaries = read(tmp_path, Folder("", ["text", "zeros"]))
    assert (contents, binaries) == ([], 1)
    assert problems == [("text", "larger than 1.1 GB")]


def test_files_that_vanished_or_became_something_else_are_told_and_survived(tmp_path: Path) -> None:
    plant(tmp_path, {"a.txt": "a", "folder/": ""})
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("a.txt")
    contents, problems, _ = read(
        tmp_path, Folder("", ["a.txt", "fifo", "folder", "gone", "link"]), Folder("away", ["x"])
    )
    assert [content.path for content in contents] == ["a.txt"]
    assert problems[:3] == [("fifo", "not a regular file"), ("folder", "not a regular file"), ("gone", "it vanished")]
    assert [path for path, _ in problems[3:]] == ["link", "away"]


def test_a_file_without_permission_is_told() -> None:
    with scratch() as top:
        plant(top, {"a.txt": "a", "closed/b.txt": "b"})
        os.chmod(f"{top}/a.txt", 0)
        os.chmod(f"{top}/closed", 0)
        with as_nobody():
            contents, problems, _ = read(top, Folder("", ["a.txt"]), Folder("closed", ["b.txt"]))
    assert contents == []
    assert problems == [("a.txt", "permission denied"), ("closed", "permission denied")]


def test_our_own_output_is_not_read_by_any_of_its_names(tmp_path: Path) -> None:
    plant(tmp_path, {"out.txt": "out", "a.txt": "a", "large.txt": b"x" * (LARGE_BYTES + 1)})
    os.link(tmp_path / "out.txt", tmp_path / "twin.txt")
    about = (tmp_path / "out.txt").stat()
    names = ["a.txt", "large.txt", "out.txt", "twin.txt"]
    contents, problems, binaries = read(tmp_path, Folder("", names), skip=(about.st_dev, about.st_ino))
    assert [content.path for content in contents] == ["a.txt", "large.txt"]
    assert (problems, binaries) == ([], 0)


@pytest.mark.skipif(
    not os.path.exists("/sys/kernel/mm/transparent_hugepage/enabled"), reason="no such kernel file here"
)
def test_a_file_that_holds_less_than_its_size_says_is_as_large_as_what_was_read() -> None:
    (content,), _, _ = read("/sys/kernel/mm/transparent_hugepage", Folder("", ["enabled"]))
    assert 0 < content.size == len(content.data) < 4096


def test_files_are_measured_without_being_read_and_large_binary_ones_count_nothing(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "a.txt": "abc",
            "d/big.txt": b"x" * (LARGE_BYTES + 1),
            "d/big.bin": b"\0" * (LARGE_BYTES + 1),
            "small.bin": b"\0",
        },
    )
    folders = [Folder("", ["a.txt", "gone", "small.bin"]), Folder("d", ["big.bin", "big.txt"]), Folder("away", ["x"])]
    found = list(measure_files(str(tmp_path), folders))
    assert [(one.path, one.size) for one in found] == [
        ("a.txt", 3),
        ("small.bin", 1),
        ("d/big.bin", 0),
        ("d/big.txt", LARGE_BYTES + 1),
    ]
    assert found[0] == FileSize("a.txt", 3)


def test_a_large_file_that_cannot_be_looked_into_counts_nothing() -> None:
    with scratch() as top:
        plant(top, {"a.txt": b"x" * (LARGE_BYTES + 1)})
        os.chmod(f"{top}/a.txt", 0)
        with as_nobody():
            assert list(measure_files(top, [Folder("", ["a.txt"])])) == []
