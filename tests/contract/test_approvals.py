"""Every store of approvals keeps the promises of `ports.approvals`."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from fakes.approvals import FakeApprovals, asked
from marid.adapters.sqlite_approvals import SqliteApprovals
from marid.core.caller import Caller
from marid.core.errors import Exhausted, NotFound, Refused
from marid.core.policy.approval import ANSWER_RETENTION, MAX_PENDING_QUESTIONS, ApprovalAnswer, person_caller
from marid.ports.approvals import Approvals, StandingGrants

HUMAN = person_caller("terminal")


class Store(Approvals, StandingGrants, Protocol):
    """Both ports are made real by one thing."""


class Clock:
    """Time as the test wants it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


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


def test_a_question_comes_back_as_it_was_put(store: Store) -> None:
    question = asked(conversation="c")._replace(text="é\x1b\u202e '\"\n")
    assert store.open(question).question == question
    found = store.get("q1")
    assert found is not None
    assert found.question == question
    assert store.pending() == [found]


def test_the_first_answer_wins_and_the_second_is_told(store: Store) -> None:
    store.open(asked())
    assert store.answer("q1", ApprovalAnswer.YES, HUMAN).answer is ApprovalAnswer.YES
    with pytest.raises(Refused, match="answered already: yes, by person:terminal"):
        store.answer("q1", ApprovalAnswer.NO, person_caller("web"))
    assert store.pending() == []
    assert store.close("q1") is ApprovalAnswer.YES


def test_an_answer_is_fetched_once(store: Store) -> None:
    store.open(asked())
    store.answer("q1", ApprovalAnswer.YES, HUMAN)
    assert store.close("q1") is ApprovalAnswer.YES
    assert store.close("q1") is None


def test_of_many_who_fetch_at_once_one_gets_the_answer(store: Store) -> None:
    store.open(asked())
    store.answer("q1", ApprovalAnswer.YES, HUMAN)
    got: list[ApprovalAnswer | None] = []
    threads = [threading.Thread(target=lambda: got.append(store.close("q1"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one is ApprovalAnswer.YES for one in got) == [False] * 7 + [True]


def test_a_late_answer_is_refused_as_expired(store: Store, clock: Clock) -> None:
    store.open(asked())
    clock.now += 61
    assert store.pending() == []
    with pytest.raises(Refused, match="expired"):
        store.answer("q1", ApprovalAnswer.YES, HUMAN)
    assert store.close("q1") is None


def test_a_closed_question_takes_no_answer(store: Store) -> None:
    store.open(asked())
    assert store.close("q1") is None
    assert store.pending() == []
    with pytest.raises(Refused, match="expired"):
        store.answer("q1", ApprovalAnswer.YES, HUMAN)


def test_nobody_answers_what_was_not_asked(store: Store) -> None:
    with pytest.raises(NotFound):
        store.answer("q9", ApprovalAnswer.YES, HUMAN)


@pytest.mark.parametrize(
    "by",
    [
        asked().caller,
        Caller(face="mcp", conversation="another"),
        Caller(face="cli", parent="c"),
    ],
)
def test_a_caller_never_answers_its_own_question_nor_does_one_who_speaks_in_a_conversation(
    store: Store, by: Caller
) -> None:
    store.open(asked())
    with pytest.raises(Refused, match="its own question"):
        store.answer("q1", ApprovalAnswer.YES, by)
    assert len(store.pending()) == 1


def test_the_same_question_asked_again_joins_the_one_that_waits(store: Store, clock: Clock) -> None:
    first = store.open(asked())
    clock.now += 30
    again = store.open(asked(created=clock.now))
    assert again == first
    assert len(store.pending()) == 1


def test_the_same_question_meets_the_answer_that_nobody_fetched(store: Store, clock: Clock) -> None:
    store.open(asked())
    store.answer("q1", ApprovalAnswer.YES, HUMAN)
    clock.now += ANSWER_RETENTION - 1
    assert store.open(asked(created=clock.now)).answer is ApprovalAnswer.YES
    assert store.close("q1") is ApprovalAnswer.YES


def test_an_answer_that_is_too_old_is_asked_for_anew(store: Store, clock: Clock) -> None:
    store.open(asked())
    store.answer("q1", ApprovalAnswer.YES, HUMAN)
    clock.now += ANSWER_RETENTION + 1
    assert store.open(asked(created=clock.now)).answer is None
    assert store.close("q1") is None


@pytest.mark.parametrize("answer", [ApprovalAnswer.YES, ApprovalAnswer.NO])
def test_an_answer_that_was_fetched_counts_for_no_second_call(store: Store, answer: ApprovalAnswer) -> None:
    store.open(asked())
    store.answer("q1", answer, HUMAN)
    store.close("q1")
    assert store.open(asked()).answer is None
    assert len(store.pending()) == 1


def test_an_expired_question_can_be_asked_again(store: Store, clock: Clock) -> None:
    store.open(asked())
    clock.now += 61
    store.open(asked(created=clock.now))
    assert store.answer("q1", ApprovalAnswer.YES, HUMAN).answer is ApprovalAnswer.YES


def test_always_keeps_the_grant_and_yes_does_not(store: Store) -> None:
    store.open(asked(conversation="c"))
    store.answer("q1", ApprovalAnswer.ALWAYS, HUMAN)
    store.open(asked("q2", conversation="d"))
    store.answer("q2", ApprovalAnswer.YES, HUMAN)
    assert store.has_grant("conversation:c", "tool:write_file")
    assert not store.has_grant("conversation:d", "tool:write_file")


def test_always_is_refused_where_it_is_not_offered(store: Store) -> None:
    store.open(asked(always=False))
    with pytest.raises(Refused, match="yes or no only"):
        store.answer("q1", ApprovalAnswer.ALWAYS, HUMAN)
    assert not store.has_grant("conversation:", "tool:write_file")
    assert store.answer("q1", ApprovalAnswer.YES, HUMAN).answer is ApprovalAnswer.YES


def test_a_grant_that_is_kept_holds_in_its_scope_only(store: Store) -> None:
    store.add_grant("run:1", "host:example.org")
    store.add_grant("run:1", "host:example.org")
    assert store.has_grant("run:1", "host:example.org")
    assert not store.has_grant("run:2", "host:example.org")
    assert not store.has_grant("run:1", "host:example.com")


def test_pending_questions_come_oldest_first_and_by_conversation(store: Store) -> None:
    store.open(asked("b", created=1000.5, conversation="two"))
    store.open(asked("a", created=1000.0, conversation="one"))
    assert [row.question.id for row in store.pending()] == ["a", "b"]
    assert [row.question.id for row in store.pending("two")] == ["b"]
    assert store.pending("three") == []


def test_a_caller_has_only_so_many_questions_waiting(store: Store, clock: Clock) -> None:
    for number in range(MAX_PENDING_QUESTIONS):
        store.open(asked(f"q{number}"))
    with pytest.raises(Exhausted):
        store.open(asked("one more"))
    store.open(asked("of another", conversation="c"))
    store.open(asked("q0"))
    clock.now += 61
    store.open(asked("one more", created=clock.now))
