"""Files that are replaced as a whole, and JSON that other programs may have written."""

import json
import os
from pathlib import Path

import pytest

from fakes.stores import run_in_threads
from marid.adapters.store import files
from marid.core.conversation.records import Corrupt
from marid.core.errors import Unavailable


def test_a_file_is_replaced_as_a_whole_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "f"
    files.write_atomic(str(path), b"1")
    files.write_atomic(str(path), b"2", durable=False)
    assert path.read_bytes() == b"2"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(OSError, match="directory"):
        files.write_atomic(str(tmp_path / "f"), b"x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_missing_file_is_none_and_need_not_be_removed(tmp_path: Path) -> None:
    assert files.read_bytes(str(tmp_path / "f")) is None
    files.remove_if_exists(str(tmp_path / "f"))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "f").symlink_to("/etc/hostname")
    with pytest.raises(OSError, match="symbolic"):
        files.read_bytes(str(tmp_path / "f"))


def test_a_disk_error_says_what_was_being_done() -> None:
    with pytest.raises(Unavailable, match="reading x failed: No room"), files.disk_errors("reading x"):
        raise OSError(28, "No room")
    with pytest.raises(ValueError, match="other"), files.disk_errors("reading x"):
        raise ValueError("other")


def test_a_lock_lets_one_in_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []

    def work() -> None:
        with files.file_lock(str(tmp_path / "l")):
            inside.append(1)
            assert len(inside) == 1
            inside.pop()

    run_in_threads(*[work] * 4)
    assert inside == []


def test_a_pipe_or_a_file_without_end_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", files.MAX_FILE_BYTES + 1)
    for flags in (files.READ_FLAGS, files.APPEND_FLAGS):
        with pytest.raises(OSError, match="not a regular file"):
            files.open_file(str(tmp_path / "pipe"), flags)
        with pytest.raises(OSError, match="larger than 1 GB"):
            files.open_file(str(tmp_path / "large"), flags)


def nested(depth: int) -> object:
    value: object = {}
    for number in range(depth - 1):
        value = [value] if number % 2 else {"a": value, "b": "[" * 1000}
    return value


def test_a_value_that_is_nested_too_deep_is_refused() -> None:
    files.check_depth(json.dumps(nested(files.MAX_DEPTH)), nested(files.MAX_DEPTH))
    for text in (json.dumps(nested(files.MAX_DEPTH + 1)), json.dumps(nested(files.MAX_DEPTH + 1)).encode()):
        with pytest.raises(ValueError, match="nested more than 200"):
            files.check_depth(text, 1, nested(files.MAX_DEPTH + 1))


def test_many_brackets_are_not_depth() -> None:
    value: list[object] = ["[{" * 1000, [list[object]() for _ in range(1000)]]
    files.check_depth(json.dumps(value), value)


def test_only_an_object_that_could_be_written_again_is_one() -> None:
    assert files.require_object("f", files.pretty_json({"a": 1})) == {"a": 1}
    assert [files.parse_object(data) for data in (None, b"", b"[]", b"[" * 100_000)] == [None] * 4
    with pytest.raises(Corrupt, match="'f' is not a JSON object"):
        files.require_object("f", b"[]")
