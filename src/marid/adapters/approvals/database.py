"""Approvals as rows of one SQLite file in the home that all processes share."""

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

from marid.adapters.approvals.rows import COLUMNS, SCHEMA, VERSION, from_row, to_row
from marid.core.caller import Caller
from marid.core.errors import Exhausted, NotFound, Unavailable
from marid.core.policy.approval import MAX_PENDING_QUESTIONS, Approval, ApprovalAnswer, Question, check_answer
from marid.workspace.write.private_folders import make_private_folder

if TYPE_CHECKING:
    import sqlite3

_DAY = 86_400.0
_IS_PENDING = "answer IS NULL AND NOT closed AND expires > ?"
_SELECT = f"SELECT {COLUMNS} FROM approval"  # noqa: S608 (constants)
_INSERT = f"INSERT OR REPLACE INTO approval ({COLUMNS}) VALUES ({', '.join('?' * (COLUMNS.count(',') + 1))})"  # noqa: S608


class SqliteApprovals:
    """Questions and standing grants. `clock` gives seconds since the epoch, `patience` is for other writers."""

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time, busy_timeout: float = 5.0) -> None:
        self._path = path
        self._clock = clock
        self._busy_timeout = busy_timeout
        self._connection: sqlite3.Connection | None = None
        self._close_connection: Callable[[], object] | None = None
        self._lock = Lock()

    def close_file(self) -> None:
        """Let go of the file; a later call opens it again."""
        with self._lock:
            self._disconnect()

    def open(self, question: Question) -> Approval:
        """As in the port."""
        now = self._clock()
        with self._write_transaction() as connection:
            held = _find_approval(connection, question.id)
            if held is not None and held.is_joinable(now):
                return held
            self._prune_and_check_limit(connection, question, now)
            approval = Approval(question=question)
            connection.execute(_INSERT, to_row(approval))
            return approval

    def get(self, key: str) -> Approval | None:
        """As in the port."""
        with self._read_transaction() as connection:
            return None if connection is None else _find_approval(connection, key)

    def answer(self, key: str, answer: ApprovalAnswer, by: Caller) -> Approval:
        """As in the port."""
        now = self._clock()
        with self._write_transaction() as connection:
            held = _find_approval(connection, key)
            if held is None:
                raise NotFound(f"there is no question '{key}'")
            check_answer(held, answer, by, now)
            given = held._replace(answer=answer, by=by.face, answered=now)
            connection.execute(_INSERT, to_row(given))
            if answer is ApprovalAnswer.ALWAYS:
                _insert_grant(connection, held.question.scope, held.question.grant, now)
            return given

    def pending(self, conversation: str | None = None) -> list[Approval]:
        """As in the port."""
        query = f"{_SELECT} WHERE {_IS_PENDING} AND (? IS NULL OR conversation = ?) ORDER BY created, id"
        with self._read_transaction() as connection:
            values = (self._clock(), conversation, conversation)
            rows = [] if connection is None else connection.execute(query, values).fetchall()
        return [from_row(row) for row in rows]

    def close(self, key: str) -> ApprovalAnswer | None:
        """As in the port."""
        with self._write_transaction() as connection:
            held = _find_approval(connection, key)
            if held is None or held.closed:
                return None
            connection.execute("UPDATE approval SET closed = 1 WHERE id = ?", (key,))
            return held.answer

    def add_grant(self, scope: str, grant: str) -> None:
        """As in the port."""
        with self._write_transaction() as connection:
            _insert_grant(connection, scope, grant, self._clock())

    def has_grant(self, scope: str, grant: str) -> bool:
        """As in the port."""
        query = "SELECT 1 FROM standing WHERE scope = ? AND grant_ = ?"
        with self._read_transaction() as connection:
            return connection is not None and connection.execute(query, (scope, grant)).fetchone() is not None

    def _prune_and_check_limit(self, connection: "sqlite3.Connection", question: Question, now: float) -> None:
        """Old rows go; a caller who has asked too much already is told so."""
        connection.execute("DELETE FROM approval WHERE created < ?", (now - _DAY,))
        connection.execute("DELETE FROM standing WHERE scope LIKE 'run:%' AND made < ?", (now - 30 * _DAY,))
        count = f"SELECT count(*) FROM approval WHERE {_IS_PENDING} AND caller = ?"  # noqa: S608 (constants)
        caller = to_row(Approval(question=question))[3]
        if connection.execute(count, (now, caller)).fetchone()[0] >= MAX_PENDING_QUESTIONS:
            raise Exhausted(f"{MAX_PENDING_QUESTIONS} questions of this caller wait for an answer already")

    @contextmanager
    def _read_transaction(self) -> "Generator[sqlite3.Connection | None]":
        """None where there is no file: looking never makes one."""
        with self._guard_access():
            yield self._open_connection() if os.path.exists(self._path) else None

    @contextmanager
    def _write_transaction(self) -> "Generator[sqlite3.Connection]":
        with self._guard_access():
            connection = self._open_connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    @contextmanager
    def _guard_access(self) -> Generator[None]:
        import sqlite3  # imported when used: 5 ms

        with self._lock:
            try:
                yield
            except (sqlite3.Error, OSError) as error:
                self._disconnect()
                raise Unavailable(f"the approvals cannot be used: {error}") from error

    def _open_connection(self) -> "sqlite3.Connection":
        if not os.path.exists(self._path):
            self._disconnect()  # somebody emptied the home: what is written to the old file nobody else would see
        if self._connection is None:
            self._connection = _connect(self._path, self._busy_timeout)
            # Closes it also at the end of the program: nobody has to remember `close_file`.
            self._close_connection = finalize(self, self._connection.close)
        return self._connection

    def _disconnect(self) -> None:
        if self._close_connection is not None:
            self._close_connection()
        self._connection = self._close_connection = None


def _find_approval(connection: "sqlite3.Connection", key: str) -> Approval | None:
    row: tuple[Any, ...] | None = connection.execute(f"{_SELECT} WHERE id = ?", (key,)).fetchone()
    return None if row is None else from_row(row)


def _insert_grant(connection: "sqlite3.Connection", scope: str, grant: str, now: float) -> None:
    connection.execute("INSERT OR REPLACE INTO standing (scope, grant_, made) VALUES (?, ?, ?)", (scope, grant, now))


def _connect(path: str, busy_timeout: float) -> "sqlite3.Connection":
    """Raises: OSError, sqlite3.Error, Unavailable for rows of a newer version."""
    import sqlite3

    make_private_folder(os.path.dirname(path) or ".")
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(fd, 0o600)  # what SQLite puts beside it takes its mode
    finally:
        os.close(fd)
    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA trusted_schema = OFF")
        _make_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(connection: "sqlite3.Connection") -> None:
    connection.execute("BEGIN IMMEDIATE")
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found == 0:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
    if found > VERSION:
        raise Unavailable("the approvals were written by a newer version of marid")
