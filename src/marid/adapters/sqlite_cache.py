"""The cache as one SQLite file that several processes share and nobody has to keep."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import finalize

from marid.workspace.write.private_folders import make_private_folder

if TYPE_CHECKING:
    import sqlite3
    from types import TracebackType

T = TypeVar("T")

VERSION = 1
_BATCH = 500
_TABLE = """CREATE TABLE entry (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, UNIQUE (kind, key))"""
_SELECT = f"SELECT key, value FROM entry WHERE kind = ? AND key IN ({', '.join('?' * _BATCH)})"  # noqa: S608 (no input)
_INSERT = "INSERT OR REPLACE INTO entry (kind, key, value) VALUES (?, ?, ?)"
# Deleting is slow (3 µs a row): a full cache is emptied in portions, not by half a million rows in one unlucky run.
_TRIM_ROWS = 20_000
# Primary result codes of SQLite: SQLITE_CORRUPT, SQLITE_NOTADB, and SQLITE_ERROR, which a valid statement meets when
# the table has another shape.
_CORRUPT_CODES = (1, 11, 26)


class _VersionMismatch(Exception):
    def __init__(self, *, older: bool) -> None:
        self.older = older


class SqliteCache:
    """Rows in the order of their coming; above a bound the oldest go.

    The file is made by the first `put`. One that cannot be read or written behaves as empty, a broken one is
    replaced, one that a newer version has made is left alone.
    """

    def __init__(
        self, path: str, *, max_bytes: int = 200_000_000, max_rows: int = 2_000_000, busy_timeout: float = 1.0
    ) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._max_rows = max_rows
        self._busy_timeout = busy_timeout  # seconds to wait for another process
        self._connection: sqlite3.Connection | None = None
        self._close_connection: Callable[[], object] | None = None
        self._lock = Lock()

    def __enter__(self) -> "SqliteCache":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; a later call opens it again."""
        with self._lock:
            self._disconnect()

    def get(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The rows that are there; asking never makes the file."""
        if not keys or not os.path.exists(self._path):
            return {}
        return self._with_connection(lambda connection: _select(connection, kind, keys)) or {}

    def put(self, kind: str, rows: Mapping[bytes, bytes]) -> None:
        """Keep the rows, or do nothing where that is not possible."""
        if rows:
            self._with_connection(lambda connection: self._insert(connection, kind, rows))

    def _insert(self, connection: "sqlite3.Connection", kind: str, rows: Mapping[bytes, bytes]) -> None:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_INSERT, [(kind, key, value) for key, value in rows.items()])
            self._trim(connection, len(rows))

    def _trim(self, connection: "sqlite3.Connection", added: int) -> None:
        first, last = connection.execute("SELECT min(id), max(id) FROM entry").fetchone()
        if last - first < self._max_rows and _used_bytes(connection) <= self._max_bytes:
            return
        edge = min((first + last) // 2, first + max(_TRIM_ROWS, 2 * added))
        connection.execute("DELETE FROM entry WHERE id <= ?", (edge,))

    def _with_connection(self, work: "Callable[[sqlite3.Connection], T]") -> T | None:
        """Once more with a new file when the one that was there is of no use."""
        import sqlite3  # imported when used: 5 ms

        with self._lock:
            for _ in range(2):
                try:
                    return work(self._open_connection())
                except OSError:
                    return None  # nothing can be made there
                except _VersionMismatch as other:
                    useless = other.older
                except sqlite3.Error as error:
                    useless = getattr(error, "sqlite_errorcode", 0) & 0xFF in _CORRUPT_CODES
                self._disconnect()
                if not useless:
                    return None
                _delete_database(self._path)
        return None

    def _open_connection(self) -> "sqlite3.Connection":
        if not os.path.exists(self._path):
            self._disconnect()  # somebody emptied the cache folder: what is written to the old file would be lost
        if self._connection is None:
            self._connection = _connect(self._path, self._busy_timeout)
            # Closes it also at the end of the program: nobody has to remember `close`.
            self._close_connection = finalize(self, self._connection.close)
        return self._connection

    def _disconnect(self) -> None:
        if self._close_connection is not None:
            self._close_connection()
        self._connection = self._close_connection = None


def _connect(path: str, busy_timeout: float) -> "sqlite3.Connection":
    import sqlite3

    if not os.path.exists(path):
        _create_database(path)
    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
    try:
        found = _version(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA journal_size_limit = 4000000")
    except sqlite3.Error:
        connection.close()
        raise
    if found == VERSION:
        return connection
    connection.close()
    raise _VersionMismatch(older=found < VERSION)


def _create_database(path: str) -> None:
    """Beside its place and then linked there, so that no process ever meets a half-made database."""
    import sqlite3
    import tempfile

    folder = os.path.dirname(path) or "."
    make_private_folder(folder)
    descriptor, draft = tempfile.mkstemp(prefix=f"{os.path.basename(path)}.", dir=folder)  # mode 0600
    os.close(descriptor)
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # kept in the file
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        with suppress(FileExistsError):  # another process was faster
            os.link(draft, path)
    finally:
        os.unlink(draft)


def _version(connection: "sqlite3.Connection") -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _used_bytes(connection: "sqlite3.Connection") -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _select(connection: "sqlite3.Connection", kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    rows: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _BATCH):
        batch = keys[start : start + _BATCH]
        filler = [batch[0]] * (_BATCH - len(batch))  # one statement for every number of keys; a repeated key is free
        rows.update(connection.execute(_SELECT, (kind, *batch, *filler)))
    return rows


def _delete_database(path: str) -> None:
    """The log goes before the file, so that no process ever sees a new file with an old log."""
    for name in (f"{path}-wal", f"{path}-shm", path):
        with suppress(OSError):
            os.unlink(name)
