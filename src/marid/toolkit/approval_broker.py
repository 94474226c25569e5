"""Ask a person, in this process or another one: the first answer counts."""

import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio

from marid.core.caller import Caller
from marid.core.errors import MaridError, Refused
from marid.core.events import Notice, QuestionAnswered, QuestionAsked
from marid.core.policy.approval import (
    MAX_PENDING_QUESTIONS,
    NO_LIMIT,
    Approval,
    ApprovalAnswer,
    Decline,
    Question,
    person_caller,
)
from marid.ports.approvals import Approvals
from marid.toolkit.call_scope import CallScope
from marid.toolkit.questions import Asker, PagingAsker, check_plan_size
from marid.toolkit.thread_pool import DaemonThreadPool

WINDOW = 60.0


class AskRateLimit:
    """Counts the questions of the last minute: all of a caller, and those about the same subject."""

    def __init__(self, *, max_same: int = 10, max_total: int = 60, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_same = max_same
        self._max_total = max_total
        self._clock = clock
        self._asked: deque[tuple[float, Hashable, str]] = deque()

    def try_acquire(self, caller: Hashable, subject: str) -> bool:
        """Whether one more may be asked now; if so, it counts."""
        now = self._clock()
        while self._asked and self._asked[0][0] <= now - WINDOW:
            self._asked.popleft()
        subjects = [about for _, by, about in self._asked if by == caller]
        if len(subjects) >= self._max_total or subjects.count(subject) >= self._max_same:
            return False
        self._asked.append((now, caller, subject))
        return True


@dataclass
class ApprovalBroker:
    """Keeps every question as a row, which other processes may answer, while the face in front of a person asks it.

    Questions of one caller come one after the other where a person is in front, since each has its own time.
    """

    approvals: Approvals
    threads: DaemonThreadPool
    poll: float = 0.1
    _rate_limit: AskRateLimit = field(default_factory=AskRateLimit)
    _slots: dict[tuple[Caller, int], anyio.Semaphore] = field(default_factory=dict[tuple[Caller, int], anyio.Semaphore])

    async def ask(self, question: Question, scope: CallScope, hint: str, call: str = "") -> ApprovalAnswer:
        """YES or ALWAYS; `hint` says what would have made the question needless.

        Raises: Refused for every other answer, for none, and where no person can be asked.
        """
        if scope.asker is None and not scope.policy.wait:
            raise Refused(f"'{question.tool}' needs the approval of a person, and no person can be asked here; {hint}")
        if not isinstance(scope.asker, PagingAsker):
            check_plan_size(question, scope.policy.plan_limit, hint)
        if not self._rate_limit.try_acquire(question.caller, question.hash):
            message = f"'{question.tool}' has asked too often within a minute and is refused for now"
            await scope.emit(Notice(message))
            raise Refused(message)
        async with self._queue_slot(question.caller, 1 if scope.asker is not None else MAX_PENDING_QUESTIONS):
            answer, reason = await self._open_and_wait(question, scope, call)
        if answer is None:
            raise Refused(f"'{question.tool}' was not approved: no answer in time; {hint}")
        if answer is ApprovalAnswer.NO:
            raise Refused(f"'{question.tool}' was declined{': ' + reason if reason else ''}; {hint}")
        return answer

    async def _open_and_wait(
        self, question: Question, scope: CallScope, call: str
    ) -> tuple[ApprovalAnswer | None, str]:
        """The answer and its reason."""
        waits = scope.policy.wait or isinstance(scope.asker, PagingAsker)
        asked = await self._store_question(question, NO_LIMIT if waits else scope.policy.ask_seconds)
        row: Approval | None = None
        try:
            kind, tool, expires, always = asked.kind.value, asked.tool, asked.expires, asked.always
            await scope.emit(QuestionAsked(asked.id, kind, tool, call, asked.text, expires, always))
            row = await self._wait_for_answer(asked, scope)
        finally:
            # Also when the call is cancelled: a question that no call waits for must not stay on the screens.
            answer = await self.threads.run_to_end(lambda: self.approvals.close(asked.id))
            word = answer.value if answer is not None else "expired"
            await scope.emit(QuestionAnswered(asked.id, word, asked.tool, call))
        return answer, row.reason if row is not None else ""

    async def _store_question(self, question: Question, seconds: float) -> Question:
        """Not cancelled halfway, or the question might stay open for good."""
        now = time.time()
        fresh = question._replace(created=now, expires=now + seconds)
        return (await self.threads.run_to_end(lambda: self.approvals.open(fresh))).question

    async def _wait_for_answer(self, question: Question, scope: CallScope) -> Approval | None:
        row: Approval | None = None
        nudge = anyio.Event()
        trouble: list[MaridError] = []
        async with anyio.create_task_group() as group:
            if scope.asker is not None:
                group.start_soon(self._ask_face, scope.asker, question, scope, nudge)
            with anyio.move_on_after(question.expires - time.time()):
                try:
                    row = await self._poll_answer(question, nudge, wait=scope.policy.wait)
                except MaridError as error:
                    trouble.append(error)  # raised in here it would come out in a group
            group.cancel_scope.cancel()
        if trouble:
            raise trouble[0]
        return row

    async def _poll_answer(self, question: Question, nudge: anyio.Event, *, wait: bool) -> Approval | None:
        """The row, when it has an answer or will have none."""
        while True:
            over = nudge.is_set()
            row = await self.threads.run(lambda: self.approvals.get(question.id))
            if row is None or row.answer is not None or row.closed or (over and not wait):
                return row
            with anyio.move_on_after(self.poll):
                await (anyio.sleep_forever() if over else nudge.wait())

    async def _ask_face(self, asker: Asker, question: Question, scope: CallScope, nudge: anyio.Event) -> None:
        """To the person; what comes back is written where every answer is."""
        answer, reason = await asker.ask(question), ""
        if isinstance(answer, Decline):
            answer, reason = ApprovalAnswer.NO, answer.reason
        if answer is ApprovalAnswer.ALWAYS and not question.always:
            answer = ApprovalAnswer.YES
        if answer is not None:
            given = answer
            by = person_caller(scope.caller.face, scope.caller.user)
            with suppress(MaridError):  # another answer was faster, or it is too late
                await self.threads.run(lambda: self.approvals.answer(question.id, given, by, reason))
        nudge.set()

    @asynccontextmanager
    async def _queue_slot(self, caller: Caller, max_open: int) -> AsyncGenerator[None]:
        slots = self._slots.setdefault((caller, max_open), anyio.Semaphore(max_open))
        try:
            async with slots:
                yield
        finally:
            if slots.value == max_open:  # no other call of this caller asks or waits
                self._slots.pop((caller, max_open), None)
