import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.files import as_nobody
from fakes.trees import scratch
from marid.workspace.plain_files import make_private_folder, read_small_text, replace_file, write_all


def test_a_file_is_written_whole_and_may_be_empty(tmp_path: Path) -> None:
    place = tmp_path / "out.txt"
    replace_file(str(place), [[b"one ", b""], [], [b"two"]])
    assert place.read_bytes() == b"one two"
    assert os.listdir(tmp_path) == ["out.txt"]
    replace_file(str(tmp_path / "out.txt"), [])
    assert (tmp_path / "out.txt").read_bytes() == b""


def test_a_file_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    place = tmp_path / "out.txt"
    place.write_bytes(b"old")
    place.chmod(0o640)
    replace_file(str(place), [[b"new"]])
    assert place.read_bytes() == b"new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_a_link_is_written_through_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.txt"
    link.symlink_to("real/out.txt")
    replace_file(str(link), [[b"new"]])
    assert link.is_symlink()
    assert (tmp_path / "real" / "out.txt").read_bytes() == b"new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_whatever_goes_wrong_the_file_stays_as_it_was(error: type[BaseException], tmp_path: Path) -> None:
    place = tmp_path / "out.txt"
    place.write_bytes(b"old")

    def batches() -> Iterator[list[bytes]]:
        yield [b"half"]
        raise error

    with pytest.raises(error):
        replace_file(str(place), batches())
    assert place.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_the_first_batch_is_made_before_there_is_any_new_file(tmp_path: Path) -> None:
    seen: list[str] = []

    def batches() -> Iterator[list[bytes]]:
        seen.extend(os.listdir(tmp_path))
        yield [b"x"]

    replace_file(str(tmp_path / "out.txt"), batches())
    assert seen == []


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127, "😀" * 63])
def test_a_name_as_long_as_names_may_be_is_written(name: str, tmp_path: Path) -> None:
    replace_file(str(tmp_path / name), [[b"x"]])
    assert os.listdir(tmp_path) == [name]


def test_a_folder_that_cannot_be_written_is_an_error() -> None:
    with scratch() as folder:
        os.chmod(folder, 0o555)
        with as_nobody(), pytest.raises(PermissionError):
            replace_file(f"{folder}/out.txt", [[b"x"]])


@given(st.lists(st.binary(max_size=5000), max_size=1100))
def test_every_byte_is_written_however_little_is_taken_at_a_time(buffers: list[bytes]) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, True)
    taken = bytearray()

    def take() -> None:
        while piece := os.read(reading, 777):
            taken.extend(piece)

    thread = threading.Thread(target=take)
    thread.start()
    write_all(writing, buffers)
    os.close(writing)
    thread.join()
    os.close(reading)
    assert bytes(taken) == b"".join(buffers)


def test_what_a_short_write_leaves_over_is_written_next() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with pytest.raises(BlockingIOError):
        write_all(writing, [b"a" * 50_000] * 3)  # a pipe holds less: the first write is cut in the middle of a buffer
    os.close(writing)
    taken = b"".join(iter(lambda: os.read(reading, 1 << 20), b""))
    assert taken == b"a" * len(taken)
    os.close(reading)


def test_all_that_is_made_is_private(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        make_private_folder(str(tmp_path / "home/logs/sessions"))
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("home", "home/logs", "home/logs/sessions")]
    assert modes == [0o700] * 3


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o755)
    make_private_folder(str(tmp_path / "home"))
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o755


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    for name in ("home", "home/below"):
        with pytest.raises(FileExistsError):
            make_private_folder(str(tmp_path / name))


def test_a_text_is_read_whole_with_its_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("grün\r\n".encode())
    assert read_small_text(str(tmp_path / "a"), 7) == "grün\r\n"


def test_what_is_too_large_no_text_or_no_file_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"12345")
    (tmp_path / "binary").write_bytes(b"\xff")
    os.mkfifo(tmp_path / "pipe")
    for name, why in (("large", "larger than 4 bytes"), ("binary", "utf-8"), ("pipe", "not a regular file")):
        with pytest.raises(ValueError, match=why):
            read_small_text(str(tmp_path / name), 4)
    with pytest.raises(FileNotFoundError):
        read_small_text(str(tmp_path / "none"), 4)
