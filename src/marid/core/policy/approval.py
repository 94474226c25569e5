"""Questions that only a person may answer, and their answers."""

from enum import Enum
from typing import NamedTuple

from marid.core.caller import Caller
from marid.core.errors import Refused

NO_LIMIT = float("inf")
"""When a question expires that waits as long as it takes."""
ANSWER_RETENTION = 600.0
"""How long an answer stays valid for a program that was restarted and asks again."""
MAX_PENDING_QUESTIONS = 8
"""Per caller."""


class QuestionKind(Enum):
    """What the question is about."""

    EDIT = "edit"
    COMMAND = "command"
    FETCH = "fetch"
    SPAWN = "spawn"
    OUTSIDE = "outside"
    CALL = "call"


class ApprovalAnswer(Enum):
    """ALWAYS is a yes that also stores the grant of the question."""

    YES = "yes"
    NO = "no"
    ALWAYS = "always"


class Decline(NamedTuple):
    """A no with a reason for the caller."""

    reason: str


class Question(NamedTuple):
    """`text` shows all that will happen, safe to print; `hash` is that of the whole plan.

    `always` says whether that answer is offered; it would store `grant` for `scope` (a conversation or a run), and
    `covers` says in words what that allows.
    """

    id: str
    kind: QuestionKind
    tool: str
    caller: Caller
    text: str
    hash: str
    created: float
    expires: float
    always: bool
    scope: str
    grant: str
    covers: str = ""


class Approval(NamedTuple):
    """A question and its state. If `closed`, its answer was fetched or it was given up; it takes no answer.

    `gone` says that the process that asked has ended; an answer counts if the same call is made again.
    """

    question: Question
    answer: ApprovalAnswer | None = None
    by: str = ""
    answered: float = 0.0
    closed: bool = False
    reason: str = ""
    gone: bool = False

    def is_waiting(self, now: float) -> bool:
        """Whether an answer may still be given."""
        return self.answer is None and not self.closed and now < self.question.expires

    def is_joinable(self, now: float) -> bool:
        """Whether the same question asked again joins this one: it is open, or its answer was not fetched yet."""
        if self.closed:
            return False
        return self.is_waiting(now) if self.answer is None else now < self.answered + ANSWER_RETENTION


class StandingGrant(NamedTuple):
    """What a person has allowed for good in `scope`; `covers` says it in words."""

    scope: str
    grant: str
    covers: str
    made: float

    @property
    def id(self) -> str:
        """A short name for it."""
        import hashlib  # imported when used: most calls need none of it

        return hashlib.sha256(f"{self.scope}\n{self.grant}".encode()).hexdigest()[:10]


def check_answer(held: Approval, answer: ApprovalAnswer, by: Caller, now: float) -> None:
    """Raises: Refused unless this answer may be given now by this caller."""
    if not _may_answer(held.question, by):
        raise Refused("a caller may not answer its own question")
    if held.answer is not None:
        raise Refused(f"the question was already answered: {held.answer.value}, by {held.by}")
    if now >= held.question.expires:
        raise Refused("the question has expired; nothing was done")
    if held.closed:
        raise Refused("the question is no longer asked: the call that asked it has ended; nothing was done")
    if answer is ApprovalAnswer.ALWAYS and not held.question.always:
        raise Refused("this question takes only yes or no")


def person_caller(face: str, user: str = "") -> Caller:
    """The caller that answers questions at a face; never equal to a caller of tools."""
    return Caller(face=f"person:{face}", user=user)


def _may_answer(question: Question, by: Caller) -> bool:
    """Not the caller itself, nor a caller within a conversation, which may be a model."""
    return by != question.caller and not by.conversation and not by.parent
