"""Every store of approvals keeps the promises of `ports.approvals`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from fakes.approvals import FakeApprovals, make_question
from fakes.stores import Clock, run_in_threads
from marid.adapters.sqlite_approvals import SqliteApprovals
from marid.core.caller import Caller
from marid.core.errors import Exhausted, NotFound, Refused
from marid.core.policy.approval import ANSWER_RETENTION, MAX_PENDING_QUESTIONS, NO_LIMIT, ApprovalAnswer, person_caller
from marid.ports.approvals import Approvals, StandingGrants

HUMAN = person_caller("terminal")


class Store(Approvals, StandingGrants, Protocol):
    """One object implements both ports."""


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture(params=["sqlite", "fake"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    if request.param == "fake":
        yield FakeApprovals(clock)
        return
    real = SqliteApprovals(str(tmp_path / "home" / "approvals.db"), clock=clock)
    yield real
    real.close_file()


def test_before_the_first_question_there_is_nothing(store: Store) -> None:
    assert store.get("q1") is None
    assert store.pending() == []
    assert store.close("q1") is None
    assert not store.has_grant("s", "g")
    with pytest.raises(NotFound):
        store.answer("q1", ApprovalAnswer.YES, HUMAN)


def test_a_question_is_stored_unchanged(store: Store) -> None:
    question = make_question(conversation="c")._replace(text="é\x1b\u202e '\"\n")
    assert store.open(question).question == question
    found = store.get("q1")
    assert found is not None
    assert found.question == question
    assert store.pending() == [found]


def test_the_first_answer_wins_and_a_second_is_refused(store: Store) -> None:
    store.open(make_question())
    assert store.answer("q1", ApprovalAnswer.YES, HUMAN).answer is ApprovalAnswer.YES
    with pytest.raises(Refused, match="already answered: yes, by person:terminal"):
        store.answer("q1", ApprovalAnswer.NO, person_caller("web"))
    assert store.pending() == []
    assert store.close("q1") is ApprovalAnswer.YES


def test_of_many_threads_that_fetch_an_answer_one_gets_it(store: Store) -> None:
    store.open(make_question())
    store.answer("q1", ApprovalAnswer.YES, HUMAN)
    got: list[ApprovalAnswer | None] = []
    run_in_threads(*[lambda: got.append(store.close("q1"))] * 8)
    assert sorted(one is ApprovalAnswer.YES for one in got) == [False] * 7 + [True]
    assert store.close("q1") is None


def test_a_late_answer_is_refused_as_expired_and_the_question_can_be_asked_again(store: Store, clock: Clock) -> None:
    store.open(make_question())
    clock.now += 61
    assert store.pending() == []
    with pytest.raises(Refused, match="expired"):
        store.answer("q1", ApprovalAnswer.YES, HUMAN)
    assert store.close("q1") is None
    store.open(make_question(created=clock.now))
    assert store.answer("q1", ApprovalAnswer.YES, HUMAN).answer is ApprovalAnswer.YES


def test_a_closed_question_takes_no_answer(store: Store) -> None:
    store.open(make_question())
    assert store.close("q1") is None
    assert store.pending() == []
    with pytest.raises(Refused, match="no longer asked: the call that asked it has ended"):
        store.answer("q1", ApprovalAnswer.YES, HUMAN)


@pytest.mark.parametrize(
    "by", [make_question().caller, Caller(face="mcp", conversation="another"), Caller(face="cli", parent="c")]
)
def test_only_a_person_answers_a_question(store: Store, by: Caller) -> None:
    store.open(make_question())
    with pytest.raises(Refused, match="its own question"):
        store.answer("q1", ApprovalAnswer.YES, by)
    assert len(store.pending()) == 1


def test_the_same_question_asked_again_joins_the_one_that_waits(store: Store, clock: Clock) -> None:
    first = store.open(make_question())
    clock.now += 30
    again = store.open(make_question(created=clock.now))
    assert again == first
    assert len(store.pending()) == 1


@pytest.mark.parametrize(("seconds", "wanted"), [(-1, ApprovalAnswer.YES), (1, None)])
def test_the_same_question_gets_an_answer_that_was_not_fetched_unless_it_is_old(
    store: Store, clock: Clock, seconds: int, wanted: ApprovalAnswer | None
) -> None:
    store.open(make_question())
    store.answer("q1", ApprovalAnswer.YES, HUMAN)
    clock.now += ANSWER_RETENTION + seconds
    assert store.open(make_question(created=clock.now)).answer is wanted
    assert store.close("q1") is wanted


@pytest.mark.parametrize("answer", [ApprovalAnswer.YES, ApprovalAnswer.NO])
def test_a_fetched_answer_is_not_used_again(store: Store, answer: ApprovalAnswer) -> None:
    store.open(make_question())
    store.answer("q1", answer, HUMAN)
    store.close("q1")
    assert store.open(make_question()).answer is None
    assert len(store.pending()) == 1


def test_always_stores_a_grant_and_yes_does_not(store: Store) -> None:
    store.open(make_question(conversation="c"))
    store.answer("q1", ApprovalAnswer.ALWAYS, HUMAN)
    store.open(make_question("q2", conversation="d"))
    store.answer("q2", ApprovalAnswer.YES, HUMAN)
    assert store.has_grant("conversation:c", "tool:write_file")
    assert not store.has_grant("conversation:d", "tool:write_file")


def test_always_is_refused_where_it_is_not_offered(store: Store) -> None:
    store.open(make_question(always=False))
    with pytest.raises(Refused, match="only yes or no"):
        store.answer("q1", ApprovalAnswer.ALWAYS, HUMAN)
    assert not store.has_grant("conversation:", "tool:write_file")
    assert store.answer("q1", ApprovalAnswer.YES, HUMAN).answer is ApprovalAnswer.YES


def test_a_grant_holds_only_in_its_scope(store: Store) -> None:
    store.add_grant("run:1", "host:example.org")
    store.add_grant("run:1", "host:example.org")
    assert store.has_grant("run:1", "host:example.org")
    assert not store.has_grant("run:2", "host:example.org")
    assert not store.has_grant("run:1", "host:example.com")


def test_grants_are_listed_in_words_and_can_be_revoked(store: Store) -> None:
    store.open(make_question(conversation="c"))
    store.answer("q1", ApprovalAnswer.ALWAYS, HUMAN)
    store.add_grant("run:1", "host:a", "every request to a")
    first, second = store.grants()
    assert (first.scope, first.covers) == ("conversation:c", "every edit by write_file")
    assert second.covers == "every request to a"
    assert first.id != second.id
    store.revoke(first)
    assert not store.has_grant("conversation:c", "tool:write_file")
    assert store.grants() == [second]


def test_a_reason_is_kept_with_its_answer(store: Store) -> None:
    store.open(make_question())
    assert store.answer("q1", ApprovalAnswer.NO, HUMAN, "not this one").reason == "not this one"
    found = store.get("q1")
    assert found is not None
    assert found.reason == "not this one"


def test_a_question_without_a_time_limit_waits_for_good(store: Store, clock: Clock) -> None:
    store.open(make_question()._replace(expires=NO_LIMIT))
    clock.now += 400_000
    store.open(make_question("q2", created=clock.now))
    assert [row.question.id for row in store.pending()] == ["q1", "q2"]


def test_pending_questions_come_oldest_first_and_by_conversation(store: Store) -> None:
    store.open(make_question("b", created=1000.5, conversation="two"))
    store.open(make_question("a", created=1000.0, conversation="one"))
    assert [row.question.id for row in store.pending()] == ["a", "b"]
    assert [row.question.id for row in store.pending("two")] == ["b"]
    assert store.pending("three") == []


def test_the_number_of_pending_questions_of_a_caller_is_limited(store: Store, clock: Clock) -> None:
    for number in range(MAX_PENDING_QUESTIONS):
        store.open(make_question(f"q{number}"))
    with pytest.raises(Exhausted):
        store.open(make_question("one more"))
    store.open(make_question("of another", conversation="c"))
    store.open(make_question("q0"))
    clock.now += 61
    store.open(make_question("one more", created=clock.now))
