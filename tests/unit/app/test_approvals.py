"""Answering what waits."""

import pytest

from fakes.apps import AppFakes
from marid.app.approvals import answer_approval, list_grants, pending_approvals, revoke_grant
from marid.core.caller import Caller
from marid.core.errors import BadInput, NotFound, Refused
from marid.core.policy.approval import ApprovalAnswer, Question, QuestionKind

NOW = 1e12


def question(number: str, *, expires: float = 2 * NOW) -> Question:
    return Question(
        id=number,
        kind=QuestionKind.EDIT,
        tool="edit_file",
        caller=Caller(face="mcp"),
        text="-a\n+b",
        hash="h",
        created=float(len(number)),
        expires=expires,
        always=True,
        scope="run:1",
        grant="edit_file",
    )


def test_what_waits_is_listed_oldest_first_without_what_has_expired() -> None:
    outside = AppFakes()
    for one in (question("abcd"), question("ab"), question("old", expires=1.0)):
        outside.approvals.open(one)
    assert [one.question.id for one in pending_approvals(outside.scope("/"))] == ["ab", "abcd"]


def test_the_beginning_of_an_id_is_enough_if_it_is_the_only_one() -> None:
    outside = AppFakes()
    for number in ("abx", "aby", "c"):
        outside.approvals.open(question(number))
    scope = outside.scope("/")
    with pytest.raises(BadInput, match="2 questions begin with 'ab'"):
        answer_approval(scope, "ab", ApprovalAnswer.YES)
    assert answer_approval(scope, "aby", ApprovalAnswer.NO).answer is ApprovalAnswer.NO
    with pytest.raises(Refused, match="already answered"):
        answer_approval(scope, "aby", ApprovalAnswer.YES)


def test_what_is_no_longer_asked_says_so() -> None:
    outside = AppFakes()
    outside.approvals.open(question("ab"))
    outside.approvals.close("ab")
    with pytest.raises(Refused, match="the call that asked it has ended"):
        answer_approval(outside.scope("/"), "ab", ApprovalAnswer.YES)


def test_a_grant_is_revoked_by_the_beginning_of_its_id() -> None:
    outside = AppFakes()
    outside.approvals.add_grant("run:1", "host:a", "every request to a")
    scope = outside.scope("/")
    (grant,) = list_grants(scope)
    with pytest.raises(NotFound, match="marid approvals grants"):
        revoke_grant(scope, "")
    assert revoke_grant(scope, grant.id[:4]) == grant
    assert list_grants(scope) == []


@pytest.mark.parametrize("number", ["", "nothing"])
def test_what_does_not_wait_is_not_answered(number: str) -> None:
    outside = AppFakes()
    outside.approvals.open(question("ab"))
    with pytest.raises(NotFound, match="marid approvals"):
        answer_approval(outside.scope("/"), number, ApprovalAnswer.YES)


def test_always_is_refused_where_it_is_not_offered() -> None:
    outside = AppFakes()
    outside.approvals.open(question("ab")._replace(always=False))
    with pytest.raises(Refused):
        answer_approval(outside.scope("/"), "ab", ApprovalAnswer.ALWAYS)
