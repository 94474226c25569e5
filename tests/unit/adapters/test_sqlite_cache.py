"""What the SQLite cache promises beyond its port: it survives everything that can happen to a file."""

import gc
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from marid.adapters.sqlite_cache import VERSION, SqliteCache

ROWS = {b"a": b"1", b"b": b"2"}
WRITER = """
import sys
from contextlib import closing
from marid.adapters.sqlite_cache import SqliteCache
with closing(SqliteCache(sys.argv[1])) as cache:
    sys.stdin.read(1)
    for turn in range(10):
        cache.put("k", {f"{sys.argv[2]}-{turn}-{n}".encode(): b"v" for n in range(20)})
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def fill(path: Path) -> None:
    with closing(SqliteCache(str(path))) as cache:
        cache.put("k", ROWS)


def test_asking_does_not_make_the_file(tmp_path: Path) -> None:
    with closing(SqliteCache(str(tmp_path / "new" / "cache.db"))) as cache:
        assert cache.get("k", [b"a"]) == {}
    assert list(tmp_path.iterdir()) == []


def test_file_and_folder_are_for_the_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "cache.db"
    with closing(SqliteCache(str(path))) as cache:
        cache.put("k", ROWS)
        assert mode(path.parent) == 0o700
        assert {mode(file) for file in path.parent.iterdir()} == {0o600}
        assert len(list(path.parent.iterdir())) == 3  # with the log and its index, without the draft


def test_a_closed_cache_opens_again(tmp_path: Path) -> None:
    with closing(SqliteCache(str(tmp_path / "cache.db"))) as cache:
        cache.put("k", ROWS)
        cache.close()
        assert cache.get("k", [b"a"]) == {b"a": b"1"}


def test_a_forgotten_cache_lets_go_of_its_file(tmp_path: Path) -> None:
    cache = SqliteCache(str(tmp_path / "cache.db"))
    cache.put("k", ROWS)
    del cache
    gc.collect()
    assert [file.name for file in tmp_path.iterdir()] == ["cache.db"]  # the log is gone


def test_a_name_without_folder_is_in_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(SqliteCache("cache.db")) as cache:
        cache.put("k", ROWS)
    assert (tmp_path / "cache.db").exists()


@pytest.mark.parametrize(
    "rubbish", [b"", b"not a database, but long enough for a header" * 9, b"SQLite format 3\0" * 99]
)
def test_a_file_that_is_no_database_is_replaced(tmp_path: Path, rubbish: bytes) -> None:
    path = tmp_path / "cache.db"
    path.write_bytes(rubbish)
    with closing(SqliteCache(str(path))) as cache:
        assert cache.get("k", [b"a"]) == {}
        cache.put("k", ROWS)
        assert cache.get("k", [b"a", b"b"]) == ROWS


def test_a_damaged_page_is_survived_and_the_file_replaced(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    rows = {b"%d" % n: b"x" * 100 for n in range(1000)}
    with closing(SqliteCache(str(path))) as cache:
        cache.put("k", rows)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    with closing(SqliteCache(str(path))) as cache:
        assert cache.get("k", list(rows)) == {}
        cache.put("k", ROWS)
        assert cache.get("k", [*rows, *ROWS]) == ROWS


def test_a_table_of_another_shape_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(sqlite3.connect(path)) as foreign:
        foreign.executescript(f"CREATE TABLE entry (name TEXT); PRAGMA user_version = {VERSION}")
    fill(path)
    with closing(SqliteCache(str(path))) as cache:
        assert cache.get("k", [b"a"]) == {b"a": b"1"}


def test_what_a_newer_version_made_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(sqlite3.connect(path)) as newer:
        newer.executescript(f"CREATE TABLE precious (name TEXT); PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    with closing(SqliteCache(str(path))) as cache:
        cache.put("k", ROWS)
        assert cache.get("k", [b"a"]) == {}
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["file/cache.db", "folder"])
def test_where_no_file_can_be_it_behaves_as_empty(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    with closing(SqliteCache(str(tmp_path / name))) as cache:
        cache.put("k", ROWS)
        assert cache.get("k", [b"a"]) == {}
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_cache_emptied_by_hand_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(SqliteCache(str(path))) as cache:
        cache.put("k", ROWS)
        for file in tmp_path.iterdir():
            file.unlink()
        assert cache.get("k", [b"a"]) == {}
        cache.put("k", ROWS)
        assert cache.get("k", [b"a"]) == {b"a": b"1"}
        assert path.exists()


def test_a_lock_held_by_another_process_costs_patience_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    fill(path)
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        closing(SqliteCache(str(path), busy_timeout=0.01)) as cache,
    ):
        other.execute("BEGIN IMMEDIATE")
        cache.put("k", {b"c": b"3"})
        assert cache.get("k", [b"a", b"c"]) == {b"a": b"1"}
        other.execute("ROLLBACK")
        cache.put("k", {b"c": b"3"})
        assert cache.get("k", [b"a", b"c"]) == {b"a": b"1", b"c": b"3"}


def test_above_the_bound_of_rows_the_oldest_half_goes(tmp_path: Path) -> None:
    with closing(SqliteCache(str(tmp_path / "cache.db"), max_rows=100)) as cache:
        for n in range(101):
            cache.put("k", {b"%d" % n: b"v"})
        left = cache.get("k", [b"%d" % n for n in range(101)])
    assert set(left) == {b"%d" % n for n in range(51, 101)}


def test_the_file_stays_within_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(SqliteCache(str(path), max_bytes=1_000_000)) as cache:
        for n in range(40):
            cache.put("k", {b"%d-%d" % (n, m): bytes(1000) for m in range(100)})
        assert cache.get("k", [b"39-99", b"0-0"]).keys() == {b"39-99"}
    assert path.stat().st_size < 1_500_000


def test_several_processes_write_at_once_from_the_very_start(tmp_path: Path) -> None:
    path = tmp_path / "new" / "cache.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(n)], stdin=subprocess.PIPE) for n in range(3)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()  # all are off at once
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    keys = [b"%d-%d-%d" % (who, turn, n) for who in range(3) for turn in range(10) for n in range(20)]
    with closing(SqliteCache(str(path))) as cache:
        assert len(cache.get("k", keys)) == len(keys)


def test_several_threads_share_one_cache(tmp_path: Path) -> None:
    with closing(SqliteCache(str(tmp_path / "cache.db"))) as cache:
        threads = [Thread(target=cache.put, args=("k", {b"%d" % n: b"v"})) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(cache.get("k", [b"%d" % n for n in range(8)])) == 8
