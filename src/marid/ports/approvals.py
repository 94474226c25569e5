"""Port to the questions that wait for a person. Every process of a home sees them and may bring the answer."""

from typing import Protocol

from marid.core.caller import Caller
from marid.core.policy.approval import Approval, ApprovalAnswer, Question, StandingGrant


class Approvals(Protocol):
    """One row per question. All methods raise Unavailable if the rows cannot be read or written."""

    def open(self, question: Question) -> Approval:
        """Add the question, or join the one with the same id that is open or has an answer not yet fetched.

        Raises: Exhausted if too many questions of this caller are open.
        """
        ...

    def get(self, key: str) -> Approval | None:
        """The present state of the question with that id."""
        ...

    def answer(self, key: str, answer: ApprovalAnswer, by: Caller, reason: str = "") -> Approval:
        """Store the first answer and its reason; ALWAYS also stores the question's grant.

        Raises: NotFound; Refused if it is answered, expired or closed, if `by` may not answer, or if it does not offer
        ALWAYS.
        """
        ...

    def pending(self, conversation: str | None = None) -> list[Approval]:
        """The open questions, oldest first: all, or those of one conversation."""
        ...

    def close(self, key: str) -> ApprovalAnswer | None:
        """Close the question. Returns its answer, to the first caller of this only, or None."""
        ...


class StandingGrants(Protocol):
    """What a person has allowed for good. All methods raise Unavailable if the grants cannot be read or written."""

    def add_grant(self, scope: str, grant: str, covers: str = "") -> None:
        """Allow `grant` in `scope` without further questions; `covers` says in words what that is."""
        ...

    def has_grant(self, scope: str, grant: str) -> bool:
        """Whether `grant` is allowed in `scope`."""
        ...

    def grants(self) -> list[StandingGrant]:
        """All grants, oldest first."""
        ...

    def revoke(self, grant: StandingGrant) -> None:
        """Remove it: from now on a person is asked again."""
        ...


class ApprovalStore(Approvals, StandingGrants, Protocol):
    """Questions and grants in one place."""
