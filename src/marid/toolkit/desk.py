"""Putting a question to whoever is there: the first answer counts, wherever it comes from."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import anyio

from marid.core.approval import MOST_PENDING, SECONDS, Answer, Question, person
from marid.core.caller import Caller
from marid.core.errors import MaridError, Refused
from marid.core.events import Answered, Asked, Note
from marid.ports.approvals import Approvals
from marid.toolkit.asking import Asker
from marid.toolkit.pace import Pace
from marid.toolkit.scope import Scope
from marid.toolkit.threads import Threads


class Desk:
    """Keeps every question as a row, which other processes may answer, while the face in front of a person asks it.

    Questions of one caller come one after the other where a person is in front, since each has its own time.
    """

    def __init__(
        self,
        approvals: Approvals,
        threads: Threads,
        *,
        patience: float = SECONDS,
        poll: float = 0.1,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._approvals = approvals
        self._threads = threads
        self._patience = patience
        self._poll = poll
        self._clock = clock
        self._pace = Pace()
        self._lines: dict[tuple[Caller, int], _Line] = {}

    async def ask(self, question: Question, scope: Scope, hint: str) -> Answer:
        """YES or ALWAYS; `hint` says what would have made the question needless.

        Raises: Refused for every other answer, for none, and where nobody can be asked.
        """
        if scope.asker is None and not scope.policy.wait:
            raise Refused(f"'{question.tool}' needs the approval of a person, and nobody can be asked here; {hint}")
        if not self._pace.allows(question.caller, question.hash):
            told = f"'{question.tool}' has asked too often within a minute and is refused for now"
            scope.emit(Note(told))
            raise Refused(told)
        async with self._turn(question.caller, 1 if scope.asker is not None else MOST_PENDING):
            answer = await self._settled(question, scope)
        if answer is None:
            raise Refused(f"'{question.tool}' was not approved: nobody answered in time; {hint}")
        if answer is Answer.NO:
            raise Refused(f"'{question.tool}' was not approved: a person said no")
        return answer

    async def _settled(self, question: Question, scope: Scope) -> Answer | None:
        asked = await self._opened(question)
        scope.emit(Asked(asked.id, asked.kind.value, asked.tool))
        answer = None
        try:
            await self._awaited(asked, scope)
        finally:
            # Also when the call is cancelled: a question that nobody waits for must not stay on the screens.
            with anyio.CancelScope(shield=True):
                answer = await self._threads.run(lambda: self._approvals.close(asked.id))
            scope.emit(Answered(asked.id, answer.value if answer is not None else "expired"))
        return answer

    async def _opened(self, question: Question) -> Question:
        """Not cancelled halfway, or the question might stay with nobody to close it."""
        now = self._clock()
        fresh = question._replace(created=now, expires=now + self._patience)
        with anyio.CancelScope(shield=True):
            fresh = (await self._threads.run(lambda: self._approvals.open(fresh))).question
        return fresh

    async def _awaited(self, question: Question, scope: Scope) -> None:
        nudge = anyio.Event()
        trouble: list[MaridError] = []
        async with anyio.create_task_group() as group:
            if scope.asker is not None:
                group.start_soon(self._put, scope.asker, question, scope, nudge)
            with anyio.move_on_after(question.expires - self._clock()):
                try:
                    await self._answered(question, nudge, wait=scope.policy.wait)
                except MaridError as error:
                    trouble.append(error)  # raised in here it would come out in a group
            group.cancel_scope.cancel()
        if trouble:
            raise trouble[0]

    async def _answered(self, question: Question, nudge: anyio.Event, *, wait: bool) -> None:
        """Returns when the row has an answer, or will have none."""
        while True:
            over = nudge.is_set()
            row = await self._threads.run(lambda: self._approvals.look(question.id))
            if row is None or row.answer is not None or row.closed or (over and not wait):
                return
            with anyio.move_on_after(self._poll):
                await (anyio.sleep_forever() if over else nudge.wait())

    async def _put(self, asker: Asker, question: Question, scope: Scope, nudge: anyio.Event) -> None:
        """To the person; what comes back is written where every answer is."""
        answer = await asker.ask(question)
        if answer is Answer.ALWAYS and not question.always:
            answer = Answer.YES
        if answer is not None:
            given = answer
            by = person(scope.caller.face, scope.caller.user)
            with suppress(MaridError):  # another answer was faster, or it is too late
                await self._threads.run(lambda: self._approvals.answer(question.id, given, by))
        nudge.set()

    @asynccontextmanager
    async def _turn(self, caller: Caller, most: int) -> AsyncGenerator[None]:
        line = self._lines.setdefault((caller, most), _Line(most))
        line.length += 1
        try:
            async with line.places:
                yield
        finally:
            line.length -= 1
            if not line.length:
                del self._lines[caller, most]


class _Line:
    def __init__(self, most: int) -> None:
        self.places = anyio.Semaphore(most)
        self.length = 0
