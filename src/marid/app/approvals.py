"""List pending approvals and answer them."""

import time
from typing import TYPE_CHECKING

from marid.core.errors import BadInput, NotFound
from marid.core.policy.approval import Approval, ApprovalAnswer, StandingGrant, person_caller

if TYPE_CHECKING:
    from marid.app.app import RequestScope


def pending_approvals(scope: "RequestScope") -> list[Approval]:
    """The questions that can still be answered, oldest first."""
    now = time.time()
    found = [approval for approval in scope.app.approvals().pending() if approval.is_waiting(now)]
    return sorted(found, key=lambda approval: approval.question.created)


def answer_approval(scope: "RequestScope", number: str, choice: ApprovalAnswer, reason: str = "") -> Approval:
    """Answer the question whose id begins with `number`; a reason is passed on to the caller.

    Raises: NotFound for none, BadInput for several, Refused if it was answered, has expired or is no longer asked.
    """
    approvals = scope.app.approvals()
    fitting = [approval for approval in pending_approvals(scope) if approval.question.id.startswith(number)]
    if not fitting and (over := approvals.get(number)) is not None:
        fitting = [over]
    if not fitting or not number:
        raise NotFound(f"no question '{number}' waits for an answer; `marid approvals` lists those that do")
    if len(fitting) > 1:
        raise BadInput(f"{len(fitting)} questions begin with '{number}': give more of the id")
    return approvals.answer(fitting[0].question.id, choice, person_caller(scope.caller.face), reason)


def list_grants(scope: "RequestScope") -> list[StandingGrant]:
    """What was allowed for good, oldest first."""
    return scope.app.approvals().grants()


def revoke_grant(scope: "RequestScope", number: str) -> StandingGrant:
    """Revoke the grant whose id begins with `number`. Raises: NotFound for none, BadInput for several."""
    fitting = [grant for grant in list_grants(scope) if number and grant.id.startswith(number)]
    if not fitting:
        raise NotFound(f"no grant '{number}'; `marid approvals grants` lists them")
    if len(fitting) > 1:
        raise BadInput(f"{len(fitting)} grants begin with '{number}': give more of the id")
    scope.app.approvals().revoke(fitting[0])
    return fitting[0]
