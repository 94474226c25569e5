"""The tables that approvals are kept in, and a row as a value."""

from typing import Any

from marid.core.caller import Caller
from marid.core.errors import Unavailable
from marid.core.policy.approval import Approval, ApprovalAnswer, Question, QuestionKind

VERSION = 1
SCHEMA = (
    """CREATE TABLE approval (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, tool TEXT NOT NULL, caller TEXT NOT NULL, conversation TEXT NOT NULL,
    text TEXT NOT NULL, hash TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL, always INTEGER NOT NULL,
    scope TEXT NOT NULL, grant_ TEXT NOT NULL, answer TEXT, answered_by TEXT NOT NULL, answered REAL NOT NULL,
    closed INTEGER NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE standing (
    scope TEXT NOT NULL, grant_ TEXT NOT NULL, made REAL NOT NULL, PRIMARY KEY (scope, grant_)) WITHOUT ROWID""",
)
COLUMNS = (
    "id, kind, tool, caller, conversation, text, hash, created, expires, always, scope, grant_, "
    "answer, answered_by, answered, closed"
)


def to_row(approval: Approval) -> tuple[object, ...]:
    """The values of `COLUMNS`."""
    import json  # imported when used, as everywhere that starts with the program

    asked = approval.question
    return (
        *(asked.id, asked.kind.value, asked.tool, json.dumps(asked.caller), asked.caller.conversation),
        *(asked.text, asked.hash, asked.created, asked.expires, asked.always, asked.scope, asked.grant),
        approval.answer.value if approval.answer is not None else None,
        *(approval.by, approval.answered, approval.closed),
    )


def from_row(row: tuple[Any, ...]) -> Approval:
    """What `to_row` made a row of. Raises: Unavailable for a row that somebody else has made."""
    try:
        return _parse_row(row)
    except (ValueError, TypeError) as error:
        raise Unavailable("the approvals are damaged: remove approvals.db from the home") from error


def _parse_row(row: tuple[Any, ...]) -> Approval:
    import json

    key, kind, tool, caller, _, text, digest, created, expires, always, scope, grant, answer, by, answered, closed = row
    *names, groups = json.loads(caller)
    return Approval(
        question=Question(
            id=key,
            kind=QuestionKind(kind),
            tool=tool,
            caller=Caller(*names, groups=tuple(groups)),
            text=text,
            hash=digest,
            created=created,
            expires=expires,
            always=bool(always),
            scope=scope,
            grant=grant,
        ),
        answer=None if answer is None else ApprovalAnswer(answer),
        by=by,
        answered=answered,
        closed=bool(closed),
    )
