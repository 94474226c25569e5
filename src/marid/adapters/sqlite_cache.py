"""The cache as one SQLite file, which processes share and which may be deleted at any time."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from marid.adapters.sqlite_connection import DatabaseSchema, SqliteConnection, VersionMismatch

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

VERSION = 1
_BATCH = 500
_TABLE = """CREATE TABLE entry (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, UNIQUE (kind, key))"""
_SCHEMA = DatabaseSchema(VERSION, [_TABLE], ["synchronous = NORMAL", "journal_size_limit = 4000000"])
_SELECT = f"SELECT key, value FROM entry WHERE kind = ? AND key IN ({', '.join('?' * _BATCH)})"  # noqa: S608 (no input)
_INSERT = "INSERT OR REPLACE INTO entry (kind, key, value) VALUES (?, ?, ?)"
# Deleting is slow (3 µs a row): a full cache shrinks step by step, not by half a million rows in one unlucky run.
_TRIM_ROWS = 20_000
# SQLITE_ERROR, which a valid statement gets if the table has other columns; SQLITE_CORRUPT; SQLITE_NOTADB.
_CORRUPT_CODES = (1, 11, 26)


class SqliteCache:
    """The port Cache. Above a limit the oldest rows are deleted.

    The first `put` creates the file. A file that cannot be read or written behaves as an empty cache, a damaged one is
    replaced, one of a newer version is left alone.
    """

    def __init__(
        self, path: str, *, max_bytes: int = 200_000_000, max_rows: int = 2_000_000, busy_timeout: float = 1.0
    ) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._max_rows = max_rows
        self._connection = SqliteConnection(path, _SCHEMA, busy_timeout)

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        self._connection.close()

    def get(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The rows that exist; a read does not create the file."""
        if not keys or not os.path.exists(self._path):
            return {}
        return self._with_connection(lambda connection: _select(connection, kind, keys)) or {}

    def put(self, kind: str, rows: Mapping[bytes, bytes]) -> None:
        """Store the rows, or do nothing if that is not possible."""
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
        """Try again with a new file if the present one is damaged or old."""
        import sqlite3  # imported when used: 5 ms

        with self._connection.lock:
            for _ in range(2):
                try:
                    return work(self._connection.get())
                except OSError:
                    return None  # the file cannot be created
                except VersionMismatch as other:
                    replace = other.older
                except sqlite3.Error as error:
                    replace = getattr(error, "sqlite_errorcode", 0) & 0xFF in _CORRUPT_CODES
                self._connection.drop()
                if not replace:
                    return None
                # The log goes before the file: no process may see a new file with an old log.
                for name in (f"{self._path}-wal", f"{self._path}-shm", self._path):
                    with suppress(OSError):
                        os.unlink(name)
        return None


def _used_bytes(connection: "sqlite3.Connection") -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _select(connection: "sqlite3.Connection", kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    rows: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _BATCH):
        batch = keys[start : start + _BATCH]
        filler = [batch[0]] * (_BATCH - len(batch))  # one statement for any number of keys; repeating a key is free
        rows.update(connection.execute(_SELECT, (kind, *batch, *filler)))
    return rows
