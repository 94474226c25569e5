"""Files that are replaced as a whole."""

import os
from pathlib import Path

import pytest

from fakes.stores import run_in_threads
from marid.adapters.store.atomic_files import (
    APPEND_FLAGS,
    MAX_FILE_BYTES,
    READ_FLAGS,
    disk_errors,
    file_lock,
    open_file,
    read_bytes,
    remove_if_exists,
    write_atomic,
)
from marid.core.errors import Unavailable


def test_a_file_is_replaced_as_a_whole_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_atomic(str(path), b"1")
    write_atomic(str(path), b"2", durable=False)
    assert path.read_bytes() == b"2"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomic(str(tmp_path / "f"), b"x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_missing_file_is_none_and_need_not_be_removed(tmp_path: Path) -> None:
    assert read_bytes(str(tmp_path / "f")) is None
    remove_if_exists(str(tmp_path / "f"))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "f").symlink_to("/etc/hostname")
    with pytest.raises(OSError, match="symbolic"):
        read_bytes(str(tmp_path / "f"))


def test_a_disk_error_says_what_was_being_done() -> None:
    with pytest.raises(Unavailable, match="reading x failed: No room"), disk_errors("reading x"):
        raise OSError(28, "No room")
    with pytest.raises(ValueError, match="other"), disk_errors("reading x"):
        raise ValueError("other")


def test_a_lock_lets_one_in_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []

    def work() -> None:
        with file_lock(str(tmp_path / "l")):
            inside.append(1)
            assert len(inside) == 1
            inside.pop()

    run_in_threads(*[work] * 4)
    assert inside == []


def test_a_pipe_or_a_file_without_end_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", MAX_FILE_BYTES + 1)
    for flags in (READ_FLAGS, APPEND_FLAGS):
        with pytest.raises(OSError, match="not a regular file"):
            open_file(str(tmp_path / "pipe"), flags)
        with pytest.raises(OSError, match="larger than 1 GB"):
            open_file(str(tmp_path / "large"), flags)
