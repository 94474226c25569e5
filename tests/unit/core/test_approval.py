import pytest

from fakes.approvals import asked
from marid.core.approval import KEPT, Answer, Approval, check_answer, person
from marid.core.caller import Caller
from marid.core.errors import Refused


def test_a_question_waits_until_it_expires() -> None:
    assert Approval(asked()).waits(1059.9)
    assert not Approval(asked()).waits(1060.0)
    assert not Approval(asked(), answer=Answer.NO).waits(1001.0)
    assert not Approval(asked(), closed=True).waits(1001.0)


def test_what_waits_or_was_not_fetched_is_joined() -> None:
    assert Approval(asked()).holds(1001.0)
    assert not Approval(asked()).holds(1060.0)
    assert Approval(asked(), answer=Answer.YES, answered=1050.0).holds(1050.0 + KEPT - 1)
    assert not Approval(asked(), answer=Answer.YES, answered=1050.0).holds(1050.0 + KEPT)
    assert not Approval(asked(), answer=Answer.YES, answered=1050.0, closed=True).holds(1051.0)


def test_a_person_may_answer_in_time() -> None:
    check_answer(Approval(asked()), Answer.ALWAYS, person("web", "ada"), 1001.0)
    assert person("web", "ada") == Caller(face="person:web", user="ada")


def test_who_asks_does_not_answer() -> None:
    with pytest.raises(Refused):
        check_answer(Approval(asked()), Answer.YES, asked().caller, 1001.0)
