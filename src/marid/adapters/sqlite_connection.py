"""The life of an SQLite database: created and opened by the first use, shared by threads, closed with the program."""

import errno
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from weakref import finalize

from marid.workspace.plain_files import make_private_folder

if TYPE_CHECKING:
    import sqlite3

_RETRY_DELAY = 0.01


class DatabaseSchema(NamedTuple):
    """The version of the tables, which is stored in the file, how they are created, and settings of a connection.

    `upgrades` has the statements that make this version out of an older one.
    """

    version: int
    tables: Sequence[str]
    pragmas: Sequence[str]
    upgrades: Mapping[int, Sequence[str]] = MappingProxyType({})


class VersionMismatch(Exception):
    """The tables were made by an older or a newer version of the program."""

    def __init__(self, *, older: bool) -> None:
        self.older = older


class SqliteConnection:
    """The connection to the database at `path`. Hold `lock` while you use it."""

    def __init__(self, path: str, schema: DatabaseSchema, busy_timeout: float) -> None:
        self._path = path
        self._schema = schema
        self._busy_timeout = busy_timeout
        self._connection: sqlite3.Connection | None = None
        self._finalizer: Callable[[], object] | None = None
        self.lock = Lock()

    def get(self) -> "sqlite3.Connection":
        """The connection, in autocommit mode. Raises: sqlite3.Error; OSError; VersionMismatch."""
        if not os.path.exists(self._path):
            self.drop()  # the file was deleted: other processes would not see what is written to the old one
        if self._connection is None:
            self._connection = _open_database(self._path, self._schema, self._busy_timeout)
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


def _open_database(path: str, schema: DatabaseSchema, busy_timeout: float) -> "sqlite3.Connection":
    import sqlite3  # imported when used: 5 ms

    make_private_folder(os.path.dirname(path) or ".")
    _create_private(path)
    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
    try:
        is_old = bool(_missing_statements(connection, schema))
        for pragma in ("journal_mode = WAL", *schema.pragmas):
            _execute_pragma(connection, pragma, time.monotonic() + busy_timeout)
        if is_old:
            connection.execute("BEGIN IMMEDIATE")
            # None if another process was faster.
            for statement in _missing_statements(connection, schema):
                connection.execute(statement)
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _create_private(path: str) -> None:
    """See that the file exists, is no link, and is private: the files that SQLite puts beside it get its mode.

    An existing file is not opened: closing any descriptor of it would drop the locks that SQLite holds in this process.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path) from None
        if stat.S_IMODE(mode) != 0o600:
            with suppress(PermissionError):  # of another user, who decides
                os.chmod(path, 0o600)


def _missing_statements(connection: "sqlite3.Connection", schema: DatabaseSchema) -> Sequence[str]:
    """What creates the tables or brings them up to date. Raises: VersionMismatch."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found == schema.version:
        return ()
    if found and found not in schema.upgrades:
        raise VersionMismatch(older=found < schema.version)
    return (*(schema.upgrades[found] if found else schema.tables), f"PRAGMA user_version = {schema.version}")


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
