"""Questions that only a person may answer, and their answers."""

from enum import Enum
from typing import NamedTuple

from marid.core.caller import Caller
from marid.core.errors import Refused

QUESTION_TIMEOUT = 60.0
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


class Question(NamedTuple):
    """`text` shows what will happen, safe to print; `hash` covers all of it, even if the text was cut.

    `always` says whether that answer is offered; it would store `grant` for `scope` (a conversation or a run).
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


class Approval(NamedTuple):
    """A question and its state. If `closed`, its answer was fetched or it was given up; it takes no answer."""

    question: Question
    answer: ApprovalAnswer | None = None
    by: str = ""
    answered: float = 0.0
    closed: bool = False

    def is_waiting(self, now: float) -> bool:
        """Whether an answer may still be given."""
        return self.answer is None and not self.closed and now < self.question.expires

    def is_joinable(self, now: float) -> bool:
        """Whether the same question asked again joins this one: it is open, or its answer was not fetched yet."""
        if self.closed:
            return False
        return self.is_waiting(now) if self.answer is None else now < self.answered + ANSWER_RETENTION


def check_answer(held: Approval, answer: ApprovalAnswer, by: Caller, now: float) -> None:
    """Raises: Refused unless this answer may be given now by this caller."""
    if not _may_answer(held.question, by):
        raise Refused("a caller may not answer its own question")
    if held.answer is not None:
        raise Refused(f"the question was already answered: {held.answer.value}, by {held.by}")
    if not held.is_waiting(now):
        raise Refused("the question has expired; nothing was done")
    if answer is ApprovalAnswer.ALWAYS and not held.question.always:
        raise Refused("this question takes only yes or no")


def person_caller(face: str, user: str = "") -> Caller:
    """The caller that answers questions at a face; never equal to a caller of tools."""
    return Caller(face=f"person:{face}", user=user)


def _may_answer(question: Question, by: Caller) -> bool:
    """Not the caller itself, nor a caller within a conversation, which may be a model."""
    return by != question.caller and not by.conversation and not by.parent
