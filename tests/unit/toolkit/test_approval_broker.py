import time
from pathlib import Path
from typing import Literal

import anyio
import pytest

from fakes.approvals import FakeApprovals
from fakes.dispatcher import CALLER, CallHarness, ScriptedAsker, SilentAsker, async_test, emit_sets, run_within
from marid.core.caller import Caller
from marid.core.errors import Refused, Unavailable
from marid.core.events import Notice, QuestionAnswered, QuestionAsked
from marid.core.policy.approval import (
    MAX_PENDING_QUESTIONS,
    NO_LIMIT,
    ApprovalAnswer,
    Decline,
    Question,
    QuestionKind,
    person_caller,
)
from marid.core.policy.policy import Policy, PolicyRules
from marid.toolkit.approval_broker import ApprovalBroker, AskRateLimit
from marid.toolkit.call_scope import CallScope
from marid.toolkit.thread_pool import DaemonThreadPool

WAIT = Policy(wait=True)


def _question(call: str = "1", *, caller: Caller = CALLER, always: bool = True) -> Question:
    scope = "conversation:talk"
    return Question(f"id {call}", QuestionKind.EDIT, "x", caller, "text", call, 0.0, 0.0, always, scope, "tool:x")


@pytest.fixture
def road(tmp_path: Path) -> CallHarness:
    return CallHarness(tmp_path)


def _ask(road: CallHarness, scope: CallScope, question: Question | None = None) -> ApprovalAnswer:
    return run_within(20, lambda: road.executor.broker.ask(question or _question(), scope, "--allow write grants it"))


@pytest.mark.parametrize("answer", [ApprovalAnswer.YES, ApprovalAnswer.ALWAYS])
def test_what_the_person_says_is_the_answer(road: CallHarness, answer: ApprovalAnswer) -> None:
    asker = ScriptedAsker(answer)
    assert _ask(road, road.scope(asker=asker)) is answer
    (question,) = asker.asked
    assert question.expires - question.created == pytest.approx(60)
    row = road.approvals.rows[question.id]
    assert (row.answer, row.by, row.closed) == (answer, "person:test", True)
    asked, answered = road.heard
    assert asked[:5] == (question.id, "edit", "x", "", question.text)
    assert answered == QuestionAnswered(question.id, answer.value, "x")


def test_without_an_answer_in_time_it_is_refused_and_gone(tmp_path: Path) -> None:
    road = CallHarness(tmp_path)
    hasty = Policy(layers=(PolicyRules(limits={"ask_seconds": 0.05}),))
    with pytest.raises(Refused, match="no answer in time"):
        _ask(road, road.scope(hasty, asker=SilentAsker()))
    assert road.approvals.pending() == []
    with pytest.raises(Refused, match="expired"):
        road.approvals.answer(_question().id, ApprovalAnswer.YES, person_caller("web"))


async def _answered_elsewhere(road: CallHarness, answer: ApprovalAnswer, asked: anyio.Event) -> None:
    await asked.wait()
    (waiting,) = road.approvals.pending()
    road.approvals.answer(waiting.question.id, answer, person_caller("web"))


@async_test
async def test_an_answer_from_elsewhere_takes_the_question_off_the_terminal(road: CallHarness) -> None:
    asker = SilentAsker()
    async with anyio.create_task_group() as group:
        group.start_soon(_answered_elsewhere, road, ApprovalAnswer.YES, asker.shown)
        assert await road.executor.broker.ask(_question(), road.scope(asker=asker), "") is ApprovalAnswer.YES
    assert asker.gone.is_set()


def test_a_slower_answer_of_the_terminal_does_not_count(tmp_path: Path) -> None:
    class Slow:
        """Says yes after somebody else has said no."""

        def __init__(self, approvals: FakeApprovals) -> None:
            self._approvals = approvals

        async def ask(self, question: Question) -> ApprovalAnswer | None:
            self._approvals.answer(question.id, ApprovalAnswer.NO, person_caller("web"))
            return ApprovalAnswer.YES

    road = CallHarness(tmp_path)
    with pytest.raises(Refused, match="was declined; --allow write grants it"):
        _ask(road, road.scope(asker=Slow(road.approvals)))


@async_test
async def test_when_the_terminal_has_gone_others_may_still_answer_if_it_may_wait(road: CallHarness) -> None:
    asked = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(_answered_elsewhere, road, ApprovalAnswer.ALWAYS, asked)
        scope = road.scope(WAIT, asker=ScriptedAsker(None), emit=emit_sets(asked))
        assert await road.executor.broker.ask(_question(), scope, "") is ApprovalAnswer.ALWAYS


def test_always_where_it_is_not_offered_is_a_yes(road: CallHarness) -> None:
    assert (
        _ask(road, road.scope(asker=ScriptedAsker(ApprovalAnswer.ALWAYS)), _question(always=False))
        is ApprovalAnswer.YES
    )
    assert road.approvals.grants() == []


def test_after_a_restart_the_same_call_meets_its_answer(road: CallHarness) -> None:
    """The row is all that is left of the first program."""
    asked = _question()
    road.approvals.open(asked._replace(created=time.time(), expires=time.time() + 60))
    road.approvals.answer(asked.id, ApprovalAnswer.YES, person_caller("web"))
    assert _ask(road, road.scope(WAIT)) is ApprovalAnswer.YES
    with pytest.raises(Refused):
        _ask(road, road.scope(asker=ScriptedAsker(None)))


@async_test
async def test_a_cancelled_call_takes_its_question_back(road: CallHarness) -> None:
    asker = SilentAsker()
    async with anyio.create_task_group() as group:
        group.start_soon(road.executor.broker.ask, _question(), road.scope(asker=asker), "")
        await asker.shown.wait()
        assert len(road.approvals.pending()) == 1
        group.cancel_scope.cancel()
    assert road.approvals.pending() == []


@async_test
async def test_the_same_question_over_and_over_is_refused_and_the_person_told(road: CallHarness) -> None:
    asker = ScriptedAsker(*[ApprovalAnswer.NO] * 50)

    for _ in range(50):
        with pytest.raises(Refused):
            await road.executor.broker.ask(_question(), road.scope(asker=asker), "")
    assert len(asker.asked) == 10
    assert Notice("'x' has asked too often within a minute and is refused for now") in road.heard


@async_test
async def test_a_person_is_asked_one_question_after_the_other(road: CallHarness) -> None:
    class OneByOne:
        """Counts how many questions are on the screen."""

        def __init__(self) -> None:
            self.at_once = 0
            self.most = 0

        async def ask(self, question: Question) -> ApprovalAnswer | None:
            del question
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            self.at_once -= 1
            return ApprovalAnswer.YES

    asker = OneByOne()

    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(road.executor.broker.ask, _question(f"{number}"), road.scope(asker=asker), "")
    assert asker.most == 1
    assert len(road.approvals.rows) == 12


@async_test
async def test_without_a_terminal_a_handful_of_questions_waits_at_once(road: CallHarness) -> None:
    most: list[int] = []
    answered: list[str] = []

    async def answer_all(what: object) -> None:
        if not isinstance(what, QuestionAsked):
            return
        most.append(len(road.approvals.pending()))
        if len(answered) or most[-1] == MAX_PENDING_QUESTIONS:  # from then on each as it comes
            for row in road.approvals.pending():
                answered.append(row.question.id)
                road.approvals.answer(row.question.id, ApprovalAnswer.YES, person_caller("web"))

    scope = road.scope(WAIT, emit=answer_all)
    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(road.executor.broker.ask, _question(f"{number}"), scope, "")
    assert max(most) == MAX_PENDING_QUESTIONS
    assert len(answered) == 12


def test_a_face_that_breaks_while_asking_allows_nothing(road: CallHarness) -> None:
    class Broken:
        """A bug."""

        async def ask(self, question: Question) -> ApprovalAnswer | None:
            raise ZeroDivisionError

    with pytest.raises(ExceptionGroup):
        _ask(road, road.scope(asker=Broken()))
    assert road.approvals.pending() == []


def test_rows_that_cannot_be_read_any_more_are_told_as_they_are(tmp_path: Path) -> None:
    class Broken(FakeApprovals):
        """The disk has gone."""

        def get(self, key: str) -> None:
            raise Unavailable(f"no disk for {key}")

    desk = ApprovalBroker(Broken(), DaemonThreadPool(2), poll=0.005)
    with pytest.raises(Unavailable, match="no disk"):
        run_within(20, lambda: desk.ask(_question(), CallHarness(tmp_path).scope(WAIT), ""))


def test_a_question_that_vanished_is_no_answer(tmp_path: Path) -> None:
    class Forgetful(FakeApprovals):
        """Loses every row."""

        def get(self, key: str) -> None:
            self.rows.pop(key, None)

    desk = ApprovalBroker(Forgetful(), DaemonThreadPool(2), poll=0.005)
    with pytest.raises(Refused, match="no answer in time"):
        run_within(20, lambda: desk.ask(_question(), CallHarness(tmp_path).scope(WAIT), ""))


@pytest.mark.parametrize(
    ("limits", "subjects"), [({"max_same": 3}, ["q"] * 4), ({"max_total": 3}, ["1", "2", "3", "4"])]
)
def test_questions_are_limited_by_the_minute(limits: dict[str, int], subjects: list[str]) -> None:
    now = [0.0]
    limit = AskRateLimit(**limits, clock=lambda: now[0])
    assert [limit.try_acquire("a", subject) for subject in subjects] == [True, True, True, False]
    assert limit.try_acquire("b", subjects[-1])
    assert limit.try_acquire("a", "another") == ("max_same" in limits)
    now[0] = 61.0
    assert limit.try_acquire("a", subjects[-1])


class Terminal(ScriptedAsker):
    """Pages, and waits as long as it takes."""

    pages: Literal[True] = True


@pytest.mark.parametrize("text", ["x\n" * 4000, "x" * 256_001])
def test_a_plan_that_cannot_be_shown_at_once_is_asked_about_only_where_it_can_be_paged(
    road: CallHarness, text: str
) -> None:
    long, here = _question()._replace(text=text), Terminal(ApprovalAnswer.YES)
    elsewhere = ScriptedAsker(ApprovalAnswer.YES)
    for scope in (road.scope(asker=elsewhere), road.scope(WAIT)):
        with pytest.raises(Refused, match=r"longer than policy.plan_limit \(4,000 lines, 256.0 KB\)"):
            _ask(road, scope, long)
    assert elsewhere.asked == []
    assert _ask(road, road.scope(asker=here), long) is ApprovalAnswer.YES
    assert here.asked[0].text == text
    wide = Policy(layers=(PolicyRules(limits={"plan_limit": 5000}),))
    assert _ask(road, road.scope(wide, asker=elsewhere), long) is ApprovalAnswer.YES


def test_at_the_terminal_and_with_wait_there_is_no_time_limit(road: CallHarness) -> None:
    here = Terminal(ApprovalAnswer.YES)
    _ask(road, road.scope(asker=here))
    waiting = ScriptedAsker(ApprovalAnswer.YES)
    _ask(road, road.scope(WAIT, asker=waiting))
    assert (here.asked[0].expires, waiting.asked[0].expires) == (NO_LIMIT, NO_LIMIT)


def test_the_reason_of_a_no_is_told(road: CallHarness) -> None:
    with pytest.raises(Refused, match=r"'x' was declined: use b\.py; --allow write grants it"):
        _ask(road, road.scope(asker=ScriptedAsker(Decline("use b.py"))))
