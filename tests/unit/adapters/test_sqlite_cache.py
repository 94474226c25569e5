"""What the SQLite cache promises beyond its port: it survives everything that can happen to a file."""

import gc
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from fakes.stores import run_in_threads
from marid.adapters.sqlite_cache import VERSION, SqliteCache
from marid.adapters.sqlite_connection import DatabaseSchema, SqliteConnection

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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "cache.db"


@pytest.fixture
def cache(path: Path) -> Iterator[SqliteCache]:
    """A cache without a file, in a folder that does not exist."""
    with closing(SqliteCache(str(path))) as cache:
        yield cache


@pytest.fixture
def rows(cache: SqliteCache, path: Path) -> dict[bytes, bytes]:
    """What a closed cache has stored in its file."""
    cache.put("k", ROWS)
    cache.close()
    assert path.exists()
    return ROWS


def test_asking_does_not_make_the_file(cache: SqliteCache, tmp_path: Path) -> None:
    assert cache.get("k", [b"a"]) == {}
    assert list(tmp_path.iterdir()) == []


def test_file_and_folder_are_for_the_owner_only(cache: SqliteCache, path: Path) -> None:
    cache.put("k", ROWS)
    assert mode(path.parent) == 0o700
    assert {mode(file) for file in path.parent.iterdir()} == {0o600}
    assert len(list(path.parent.iterdir())) == 3  # with the log and its index


def test_a_closed_cache_opens_again(cache: SqliteCache, rows: dict[bytes, bytes]) -> None:
    assert cache.get("k", [b"a", b"b"]) == rows


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
def test_a_file_that_is_no_database_is_replaced(cache: SqliteCache, path: Path, rubbish: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(rubbish)
    assert cache.get("k", [b"a"]) == {}
    cache.put("k", ROWS)
    assert cache.get("k", [b"a", b"b"]) == ROWS


def test_a_damaged_page_is_survived_and_the_file_replaced(cache: SqliteCache, path: Path) -> None:
    rows = {b"%d" % n: b"x" * 100 for n in range(1000)}
    cache.put("k", rows)
    cache.close()
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    assert cache.get("k", list(rows)) == {}
    cache.put("k", ROWS)
    assert cache.get("k", [*rows, *ROWS]) == ROWS


@pytest.mark.parametrize(
    ("table", "version", "kept"),
    [("entry", VERSION, False), ("entry", 0, False), ("precious", VERSION + 1, True)],
    ids=["another shape", "not ours", "newer"],
)
def test_other_tables_are_replaced_unless_a_newer_version_made_them(
    cache: SqliteCache, path: Path, table: str, version: int, *, kept: bool
) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as foreign:
        foreign.executescript(f"CREATE TABLE {table} (name TEXT); PRAGMA user_version = {version}")
    before = path.read_bytes()
    cache.put("k", ROWS)
    assert cache.get("k", [b"a"]) == ({} if kept else {b"a": b"1"})
    assert (path.read_bytes() == before) is kept


@pytest.mark.parametrize("name", ["file/cache.db", "folder"])
def test_where_no_file_can_be_it_behaves_as_empty(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    with closing(SqliteCache(str(tmp_path / name))) as cache:
        cache.put("k", ROWS)
        assert cache.get("k", [b"a"]) == {}
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_cache_emptied_by_hand_is_made_again(cache: SqliteCache, path: Path) -> None:
    cache.put("k", ROWS)
    for file in path.parent.iterdir():
        file.unlink()
    assert cache.get("k", [b"a"]) == {}
    cache.put("k", ROWS)
    assert cache.get("k", [b"a"]) == {b"a": b"1"}
    assert path.exists()


@pytest.mark.usefixtures("rows")
def test_a_lock_held_by_another_process_costs_patience_and_nothing_else(path: Path) -> None:
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


def test_a_second_cache_of_a_process_keeps_the_locks_of_the_first(path: Path) -> None:
    """The defect: it opened and closed the file itself, which drops all locks of the process; another process then took
    itself for the last one and deleted the log."""
    program = "import sys; from marid.adapters.sqlite_cache import SqliteCache as C; c = C(sys.argv[1])"
    program += "; print(sorted(c.get('k', [b'1', b'2', b'3']))); c.close()"
    with closing(SqliteCache(str(path))) as first, closing(SqliteCache(str(path))) as second:
        first.put("k", {b"1": b"x"})
        second.put("k", {b"2": b"x"})
        subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True)
        assert path.with_name(f"{path.name}-wal").exists()
        first.put("k", {b"3": b"x"})
        seen = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True)
    assert seen.stdout.strip() == b"[b'1', b'2', b'3']"


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


def test_several_processes_write_at_once_from_the_very_start(cache: SqliteCache, path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(n)], stdin=subprocess.PIPE) for n in range(3)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()  # all are off at once
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    keys = [b"%d-%d-%d" % (who, turn, n) for who in range(3) for turn in range(10) for n in range(20)]
    assert len(cache.get("k", keys)) == len(keys)


def test_several_threads_share_one_cache(cache: SqliteCache) -> None:
    run_in_threads(*(partial(cache.put, "k", {b"%d" % n: b"v"}) for n in range(8)))
    assert len(cache.get("k", [b"%d" % n for n in range(8)])) == 8


def _open_and_close(path: str) -> None:
    connection = SqliteConnection(path, DatabaseSchema(1, ["CREATE TABLE one (x)"], []), 30.0)
    connection.get()
    connection.close()


def test_several_connections_create_the_same_database_at_once(tmp_path: Path) -> None:
    """The defect: turning on WAL failed with "database is locked", whatever the busy timeout was."""
    for number in range(40):
        path = tmp_path / f"{number}.db"
        run_in_threads(*[partial(_open_and_close, str(path))] * 4)
        assert path.exists()
