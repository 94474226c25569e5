"""Approvals in a dictionary."""

import time
from collections.abc import Callable
from threading import Lock

from marid.core.caller import Caller
from marid.core.errors import Exhausted, NotFound
from marid.core.policy.approval import (
    MAX_PENDING_QUESTIONS,
    Approval,
    ApprovalAnswer,
    Question,
    QuestionKind,
    StandingGrant,
    check_answer,
)


class FakeApprovals:
    """The ports Approvals and StandingGrants, for one process."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.rows: dict[str, Approval] = {}
        self.standing: dict[tuple[str, str], StandingGrant] = {}
        self._clock = clock
        self._lock = Lock()

    def open(self, question: Question) -> Approval:
        with self._lock:
            held = self.rows.get(question.id)
            if held is not None and held.is_joinable(self._clock()):
                return held
            if len([row for row in self._waiting() if row.question.caller == question.caller]) >= MAX_PENDING_QUESTIONS:
                raise Exhausted("too many questions of this caller wait")
            return self.rows.setdefault(question.id, Approval(question)) if held is None else self._put(question)

    def get(self, key: str) -> Approval | None:
        return self.rows.get(key)

    def answer(self, key: str, answer: ApprovalAnswer, by: Caller, reason: str = "") -> Approval:
        with self._lock:
            if key not in self.rows:
                raise NotFound(f"there is no question '{key}'")
            held = self.rows[key]
            check_answer(held, answer, by, self._clock())
            self.rows[key] = held._replace(answer=answer, by=by.face, answered=self._clock(), reason=reason)
            if answer is ApprovalAnswer.ALWAYS:
                self.add_grant(held.question.scope, held.question.grant, held.question.covers)
            return self.rows[key]

    def pending(self, conversation: str | None = None) -> list[Approval]:
        found = [row for row in self._waiting() if conversation in (None, row.question.caller.conversation)]
        return sorted(found, key=lambda row: (row.question.created, row.question.id))

    def close(self, key: str) -> ApprovalAnswer | None:
        with self._lock:
            held = self.rows.get(key)
            if held is None or held.closed:
                return None
            self.rows[key] = held._replace(closed=True)
            return held.answer

    def add_grant(self, scope: str, grant: str, covers: str = "") -> None:
        self.standing[scope, grant] = StandingGrant(scope, grant, covers, self._clock())

    def has_grant(self, scope: str, grant: str) -> bool:
        return (scope, grant) in self.standing

    def grants(self) -> list[StandingGrant]:
        return list(self.standing.values())

    def revoke(self, grant: StandingGrant) -> None:
        self.standing.pop(grant[:2], None)

    def _put(self, question: Question) -> Approval:
        self.rows[question.id] = Approval(question)
        return self.rows[question.id]

    def _waiting(self) -> list[Approval]:
        return [row for row in self.rows.values() if row.is_waiting(self._clock())]


def make_question(key: str = "q1", *, created: float = 1000.0, conversation: str = "", always: bool = True) -> Question:
    """A question of a caller in that conversation, which expires after a minute."""
    return Question(
        id=key,
        kind=QuestionKind.EDIT,
        tool="write_file",
        caller=Caller(face="mcp", conversation=conversation, groups=("a", "b")),
        text="what will happen",
        hash="0" * 64,
        created=created,
        expires=created + 60,
        always=always,
        scope=f"conversation:{conversation}",
        grant="tool:write_file",
        covers="every edit by write_file",
    )
