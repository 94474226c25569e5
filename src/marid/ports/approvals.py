"""Where questions to a person are kept, so that every process sees them and any of them may bring the answer."""

from typing import Protocol

from marid.core.caller import Caller
from marid.core.policy.approval import Approval, ApprovalAnswer, Question


class Approvals(Protocol):
    """One row for each question. All methods raise Unavailable when the rows cannot be read or written."""

    def open(self, question: Question) -> Approval:
        """Put the question, or join the one of the same id that still waits or whose answer nobody has fetched.

        Raises: Exhausted when too many questions of this caller wait.
        """
        ...

    def get(self, key: str) -> Approval | None:
        """The question of that id as it stands now."""
        ...

    def answer(self, key: str, answer: ApprovalAnswer, by: Caller) -> Approval:
        """The first answer counts; ALWAYS keeps the question's grant as well.

        Raises: NotFound; Refused when it is answered, expired or closed, when `by` may not answer, or when ALWAYS
        is not offered.
        """
        ...

    def pending(self, conversation: str | None = None) -> list[Approval]:
        """The questions that wait, oldest first: all, or those of one conversation."""
        ...

    def close(self, key: str) -> ApprovalAnswer | None:
        """End the wait: the answer, which only one caller of this ever gets, or None, and then none comes any more."""
        ...


class StandingGrants(Protocol):
    """What a person has allowed until further notice. Both methods raise Unavailable when that is not to be known."""

    def add_grant(self, scope: str, grant: str) -> None:
        """From now on `grant` needs no question in `scope`."""
        ...

    def has_grant(self, scope: str, grant: str) -> bool:
        """Whether `grant` needs no question in `scope`."""
        ...
