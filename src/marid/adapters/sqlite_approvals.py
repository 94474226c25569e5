"""Approvals and grants in one SQLite file of the home, which all processes share."""

import json
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from marid.adapters.sqlite_connection import DatabaseSchema, SqliteConnection, VersionMismatch
from marid.adapters.store.lease import has_ended, process_identity
from marid.core.caller import Caller
from marid.core.errors import Exhausted, NotFound, Unavailable
from marid.core.policy.approval import (
    MAX_PENDING_QUESTIONS,
    Approval,
    ApprovalAnswer,
    Question,
    QuestionKind,
    StandingGrant,
    check_answer,
)

if TYPE_CHECKING:
    import sqlite3

_DAY = 86_400.0
_TABLES = (
    """CREATE TABLE approval (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, tool TEXT NOT NULL, caller TEXT NOT NULL, conversation TEXT NOT NULL,
    text TEXT NOT NULL, hash TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL, always INTEGER NOT NULL,
    scope TEXT NOT NULL, grant_ TEXT NOT NULL, answer TEXT, answered_by TEXT NOT NULL, answered REAL NOT NULL,
    closed INTEGER NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE standing (
    scope TEXT NOT NULL, grant_ TEXT NOT NULL, made REAL NOT NULL, PRIMARY KEY (scope, grant_)) WITHOUT ROWID""",
)
_SECOND_VERSION = (
    "ALTER TABLE approval ADD COLUMN covers TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE approval ADD COLUMN reason TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE approval ADD COLUMN asker TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE standing ADD COLUMN covers TEXT NOT NULL DEFAULT ''",
)
_SCHEMA = DatabaseSchema(
    2, (*_TABLES, *_SECOND_VERSION), ["synchronous = FULL", "trusted_schema = OFF"], {1: _SECOND_VERSION}
)
COLUMNS = (
    "id, kind, tool, caller, conversation, text, hash, created, expires, always, scope, grant_, "
    "answer, answered_by, answered, closed, covers, reason, asker"
)
_IS_PENDING = "answer IS NULL AND NOT closed AND expires > ?"
_SELECT = f"SELECT {COLUMNS} FROM approval"  # noqa: S608 (constants)
_INSERT = f"INSERT OR REPLACE INTO approval ({COLUMNS}) VALUES ({', '.join('?' * (COLUMNS.count(',') + 1))})"  # noqa: S608


class SqliteApprovals:
    """The ports of approvals and grants. `clock` returns seconds since the epoch."""

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time, busy_timeout: float = 5.0) -> None:
        self._path = path
        self._identity = json.dumps({"pid": os.getpid(), **process_identity()})
        self._clock = clock
        self._connection = SqliteConnection(path, _SCHEMA, busy_timeout)

    def close_file(self) -> None:
        """Close the file; a later call opens it again."""
        self._connection.close()

    def open(self, question: Question) -> Approval:
        now = self._clock()
        with self._write_transaction() as connection:
            known = _find_approval(connection, question.id)
            if known is not None and known.is_joinable(now):
                if known.gone:
                    connection.execute("UPDATE approval SET asker = ? WHERE id = ?", (self._identity, question.id))
                return known._replace(gone=False)
            _delete_old(connection, now)
            _check_limit(connection, question, now)
            connection.execute(_INSERT, to_row(Approval(question), self._identity))
            return Approval(question)

    def get(self, key: str) -> Approval | None:
        with self._read_transaction() as connection:
            return None if connection is None else _find_approval(connection, key)

    def answer(self, key: str, answer: ApprovalAnswer, by: Caller, reason: str = "") -> Approval:
        now = self._clock()
        with self._write_transaction() as connection:
            known = _find_approval(connection, key)
            if known is None:
                raise NotFound(f"there is no question '{key}'")
            check_answer(known, answer, by, now)
            update = "UPDATE approval SET answer = ?, answered_by = ?, answered = ?, reason = ? WHERE id = ?"
            connection.execute(update, (answer.value, by.face, now, reason, key))
            if answer is ApprovalAnswer.ALWAYS:
                asked = known.question
                _insert_grant(connection, StandingGrant(asked.scope, asked.grant, asked.covers, now))
            return known._replace(answer=answer, by=by.face, answered=now, reason=reason)

    def pending(self, conversation: str | None = None) -> list[Approval]:
        query = f"{_SELECT} WHERE {_IS_PENDING} AND (? IS NULL OR conversation = ?) ORDER BY created, id"
        with self._read_transaction() as connection:
            values = (self._clock(), conversation, conversation)
            rows = [] if connection is None else connection.execute(query, values).fetchall()
        return [from_row(row) for row in rows]

    def close(self, key: str) -> ApprovalAnswer | None:
        with self._write_transaction() as connection:
            known = _find_approval(connection, key)
            if known is None or known.closed:
                return None
            connection.execute("UPDATE approval SET closed = 1 WHERE id = ?", (key,))
            return known.answer

    def add_grant(self, scope: str, grant: str, covers: str = "") -> None:
        with self._write_transaction() as connection:
            _insert_grant(connection, StandingGrant(scope, grant, covers, self._clock()))

    def has_grant(self, scope: str, grant: str) -> bool:
        query = "SELECT 1 FROM standing WHERE scope = ? AND grant_ = ?"
        with self._read_transaction() as connection:
            return connection is not None and connection.execute(query, (scope, grant)).fetchone() is not None

    def grants(self) -> list[StandingGrant]:
        query = "SELECT scope, grant_, covers, made FROM standing ORDER BY made, scope, grant_"
        with self._read_transaction() as connection:
            return [] if connection is None else [StandingGrant(*row) for row in connection.execute(query)]

    def revoke(self, grant: StandingGrant) -> None:
        with self._write_transaction() as connection:
            connection.execute("DELETE FROM standing WHERE scope = ? AND grant_ = ?", grant[:2])

    @contextmanager
    def _read_transaction(self) -> "Generator[sqlite3.Connection | None]":
        """None if there is no file: a read does not create one."""
        with self._guard_access():
            yield self._connection.get() if os.path.exists(self._path) else None

    @contextmanager
    def _write_transaction(self) -> "Generator[sqlite3.Connection]":
        with self._guard_access(), self._connection.get() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def _guard_access(self) -> Generator[None]:
        import sqlite3  # imported when used: 5 ms

        with self._connection.lock:
            try:
                yield
            except VersionMismatch as error:
                raise Unavailable("the approvals were written by a newer version of marid") from error
            except (sqlite3.Error, OSError) as error:
                self._connection.drop()
                raise Unavailable(f"the approvals cannot be used: {error}") from error


def to_row(approval: Approval, asker: str = "{}") -> tuple[object, ...]:
    """The values of `COLUMNS`; `asker` is the process that asks."""
    asked = approval.question
    return (
        *(asked.id, asked.kind.value, asked.tool, json.dumps(asked.caller), asked.caller.conversation),
        *(asked.text, asked.hash, asked.created, asked.expires, asked.always, asked.scope, asked.grant),
        approval.answer.value if approval.answer is not None else None,
        *(approval.by, approval.answered, approval.closed, asked.covers, approval.reason, asker),
    )


def from_row(row: tuple[Any, ...]) -> Approval:
    """The inverse of `to_row`. Raises: Unavailable if another program has changed the row."""
    id, kind, tool, caller, _, text, digest, created, expires, always, scope, grant, *state = row
    answer, by, answered, closed, covers, reason, identity = state
    try:
        *names, groups = json.loads(caller)
        asker = Caller(*names, groups=tuple(groups))
        asked = Question(
            id, QuestionKind(kind), tool, asker, text, digest, created, expires, bool(always), scope, grant, covers
        )
        given = None if answer is None else ApprovalAnswer(answer)
        gone = has_ended(json.loads(identity))
    except (ValueError, TypeError) as error:
        raise Unavailable("the approvals are damaged: remove approvals.db from the home") from error
    return Approval(asked, given, by, answered, bool(closed), reason, gone)


def _find_approval(connection: "sqlite3.Connection", key: str) -> Approval | None:
    row: tuple[Any, ...] | None = connection.execute(f"{_SELECT} WHERE id = ?", (key,)).fetchone()
    return None if row is None else from_row(row)


def _delete_old(connection: "sqlite3.Connection", now: float) -> None:
    """Delete rows that are a day old, but no question whose process still waits."""
    rows = connection.execute(f"{_SELECT} WHERE created < ?", (now - _DAY,)).fetchall()
    old = [approval for approval in map(from_row, rows) if approval.gone or not approval.is_waiting(now)]
    connection.executemany("DELETE FROM approval WHERE id = ?", [(one.question.id,) for one in old])
    connection.execute("DELETE FROM standing WHERE scope LIKE 'run:%' AND made < ?", (now - 30 * _DAY,))


def _insert_grant(connection: "sqlite3.Connection", grant: StandingGrant) -> None:
    connection.execute("INSERT OR REPLACE INTO standing (scope, grant_, covers, made) VALUES (?, ?, ?, ?)", grant)


def _check_limit(connection: "sqlite3.Connection", question: Question, now: float) -> None:
    """Raises: Exhausted if too many questions of this caller are pending."""
    caller = to_row(Approval(question))[3]
    rows = connection.execute(f"{_SELECT} WHERE {_IS_PENDING} AND caller = ?", (now, caller)).fetchall()
    if len([row for row in rows if not from_row(row).gone]) >= MAX_PENDING_QUESTIONS:
        raise Exhausted(f"{MAX_PENDING_QUESTIONS} questions of this caller already wait for an answer")
