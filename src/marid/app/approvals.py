"""List pending approvals and answer them."""

import time
from typing import TYPE_CHECKING

from marid.core.errors import BadInput, NotFound
from marid.core.policy.approval import Approval, ApprovalAnswer, person_caller

if TYPE_CHECKING:
    from marid.app.app import RequestScope


def pending_approvals(scope: "RequestScope") -> list[Approval]:
    """The questions that can still be answered, oldest first."""
    now = time.time()
    found = [approval for approval in scope.app.approvals().pending() if approval.is_waiting(now)]
    return sorted(found, key=lambda approval: approval.question.created)


def answer_approval(scope: "RequestScope", number: str, choice: ApprovalAnswer) -> Approval:
    """Answer the question whose id begins with `number`.

    Raises: NotFound for none, BadInput for several, Refused if it was answered or has expired.
    """
    fitting = [approval for approval in pending_approvals(scope) if approval.question.id.startswith(number)]
    if not fitting or not number:
        raise NotFound(f"no question '{number}' waits for an answer; `marid approvals` lists those that do")
    if len(fitting) > 1:
        raise BadInput(f"{len(fitting)} questions begin with '{number}': give more of the id")
    return scope.app.approvals().answer(fitting[0].question.id, choice, person_caller(scope.caller.face))
