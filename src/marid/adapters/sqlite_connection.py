"""The life of an SQLite connection: opened by the first use, shared by threads, closed at the end of the program."""

import os
import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING
from weakref import finalize

if TYPE_CHECKING:
    import sqlite3


_RETRY_DELAY = 0.01


class SqliteConnection:
    """The connection to the database at `path`, made by `connect`. Hold `lock` while you use it."""

    def __init__(self, path: str, connect: "Callable[[], sqlite3.Connection]") -> None:
        self._path = path
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        self._finalizer: Callable[[], object] | None = None
        self.lock = Lock()

    def get(self) -> "sqlite3.Connection":
        """Raises: whatever `connect` raises."""
        if not os.path.exists(self._path):
            self.drop()  # the file was deleted: other processes would not see what is written to the old one
        if self._connection is None:
            self._connection = self._connect()
            self._finalizer = finalize(self, self._connection.close)
        return self._connection

    def drop(self) -> None:
        """Close the connection; the next use opens a new one."""
        if self._finalizer is not None:
            self._finalizer()
        self._connection = self._finalizer = None

    def close(self) -> None:
        """`drop` under the lock."""
        with self.lock:
            self.drop()


def connect(
    path: str, busy_timeout: float, pragmas: Sequence[str], prepare: "Callable[[sqlite3.Connection], None]"
) -> "sqlite3.Connection":
    """Open a database in autocommit mode, for several threads. Raises: sqlite3.Error, and what `prepare` raises."""
    import sqlite3  # imported when used: 5 ms

    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
    try:
        for pragma in pragmas:
            _execute_pragma(connection, pragma, time.monotonic() + busy_timeout)
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _execute_pragma(connection: "sqlite3.Connection", pragma: str, deadline: float) -> None:
    """Retry while another process holds a lock: SQLite does not wait for it when two processes turn on WAL at once."""
    import sqlite3

    while True:
        try:
            connection.execute(f"PRAGMA {pragma}")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_DELAY)
        else:
            return


def user_version(connection: "sqlite3.Connection") -> int:
    """The version that the program which made the tables has put into the file."""
    return connection.execute("PRAGMA user_version").fetchone()[0]
