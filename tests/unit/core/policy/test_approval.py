import pytest

from fakes.approvals import make_question
from marid.core.caller import Caller
from marid.core.errors import Refused
from marid.core.policy.approval import ANSWER_RETENTION, Approval, ApprovalAnswer, check_answer, person_caller


def test_a_question_waits_until_it_expires() -> None:
    assert Approval(make_question()).is_waiting(1059.9)
    assert not Approval(make_question()).is_waiting(1060.0)
    assert not Approval(make_question(), answer=ApprovalAnswer.NO).is_waiting(1001.0)
    assert not Approval(make_question(), closed=True).is_waiting(1001.0)


def test_what_waits_or_was_not_fetched_is_joined() -> None:
    assert Approval(make_question()).is_joinable(1001.0)
    assert not Approval(make_question()).is_joinable(1060.0)
    assert Approval(make_question(), answer=ApprovalAnswer.YES, answered=1050.0).is_joinable(
        1050.0 + ANSWER_RETENTION - 1
    )
    assert not Approval(make_question(), answer=ApprovalAnswer.YES, answered=1050.0).is_joinable(
        1050.0 + ANSWER_RETENTION
    )
    assert not Approval(make_question(), answer=ApprovalAnswer.YES, answered=1050.0, closed=True).is_joinable(1051.0)


def test_a_person_may_answer_in_time() -> None:
    check_answer(Approval(make_question()), ApprovalAnswer.ALWAYS, person_caller("web", "ada"), 1001.0)
    assert person_caller("web", "ada") == Caller(face="person:web", user="ada")


def test_who_asks_does_not_answer() -> None:
    with pytest.raises(Refused):
        check_answer(Approval(make_question()), ApprovalAnswer.YES, make_question().caller, 1001.0)
