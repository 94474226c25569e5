"""Questions that only a person may answer, and their answers."""

from enum import Enum
from typing import NamedTuple

from marid.core.caller import Caller
from marid.core.errors import Refused

QUESTION_TIMEOUT = 60.0
"""How long a question may wait."""
ANSWER_RETENTION = 600.0
"""How long an answer that nobody has fetched yet stays good: a program that was restarted comes back for it."""
MAX_PENDING_QUESTIONS = 8
"""How many questions of one caller may wait at once."""


class QuestionKind(Enum):
    """What is asked for."""

    EDIT = "edit"
    COMMAND = "command"
    FETCH = "fetch"
    SPAWN = "spawn"
    OUTSIDE = "outside"
    CALL = "call"


class ApprovalAnswer(Enum):
    """ALWAYS is a yes that also writes a rule: what the question calls its grant needs no further question."""

    YES = "yes"
    NO = "no"
    ALWAYS = "always"


class Question(NamedTuple):
    """`text` shows what will happen, safe to print; `hash` covers all of it, also where the text had to be cut.

    `always` tells whether that answer is offered; it would hold for `grant` in `scope` (a conversation or a run).
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
    """A question and what has become of it. A closed one was fetched or given up, and takes no answer any more."""

    question: Question
    answer: ApprovalAnswer | None = None
    by: str = ""
    answered: float = 0.0
    closed: bool = False

    def is_waiting(self, now: float) -> bool:
        """Whether an answer may still be given."""
        return self.answer is None and not self.closed and now < self.question.expires

    def is_joinable(self, now: float) -> bool:
        """Whether whoever asks the same again joins this one: it waits, or has an answer that nobody fetched."""
        if self.closed:
            return False
        return self.is_waiting(now) if self.answer is None else now < self.answered + ANSWER_RETENTION


def check_answer(held: Approval, answer: ApprovalAnswer, by: Caller, now: float) -> None:
    """Raises: Refused unless this answer may be given now by this caller."""
    if not _may_answer(held.question, by):
        raise Refused("a caller does not answer its own question")
    if held.answer is not None:
        raise Refused(f"the question is answered already: {held.answer.value}, by {held.by}")
    if not held.is_waiting(now):
        raise Refused("the question has expired: nothing was done, and nothing will be")
    if answer is ApprovalAnswer.ALWAYS and not held.question.always:
        raise Refused("this question takes yes or no only")


def person_caller(face: str, user: str = "") -> Caller:
    """Who answers at a face; not equal to any caller of tools."""
    return Caller(face=f"person:{face}", user=user)


def _may_answer(question: Question, by: Caller) -> bool:
    """Never the caller itself, and never one who speaks in a conversation: that may be a model."""
    return by != question.caller and not by.conversation and not by.parent
