"""What a client says when it is asked; the whole way stands in tests/flow/test_mcp.py."""

from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import pytest
from mcp import types
from mcp.shared.exceptions import MCPError

from fakes.approvals import make_question
from marid.core.policy.approval import ApprovalAnswer
from marid.faces.mcp.elicitation import Elicitation, elicitation_for


@dataclass
class Session:
    """A client that answers as it was told to."""

    result: types.ElicitResult | MCPError
    client_capabilities: types.ClientCapabilities | None = None
    can_send_request: bool = True
    schemas: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def elicit_form(self, _message: str, schema: dict[str, Any], _request: object) -> types.ElicitResult:
        self.schemas.append(schema)
        if isinstance(self.result, MCPError):
            raise self.result
        return self.result


@dataclass
class Context:
    session: Session
    request_id: int = 7


def accepted(answer: str) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"answer": answer})


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (accepted("yes"), ApprovalAnswer.YES),
        (accepted("no"), ApprovalAnswer.NO),
        (accepted("always"), ApprovalAnswer.ALWAYS),
        (accepted("perhaps"), ApprovalAnswer.NO),
        (types.ElicitResult(action="accept"), ApprovalAnswer.NO),
        (types.ElicitResult(action="decline"), ApprovalAnswer.NO),
        (types.ElicitResult(action="cancel"), ApprovalAnswer.NO),
        (MCPError(code=-32603, message="no form here"), None),
    ],
)
def test_only_a_plain_yes_is_one(result: types.ElicitResult | MCPError, answer: ApprovalAnswer | None) -> None:
    assert anyio.run(Elicitation(cast("Any", Session(result)), 7).ask, make_question()) is answer


def test_always_is_offered_only_where_it_may_be() -> None:
    session = Session(accepted("always"))
    assert anyio.run(Elicitation(cast("Any", session), 7).ask, make_question(always=False)) is ApprovalAnswer.NO
    assert session.schemas[0]["properties"]["answer"]["enum"] == ["yes", "no"]


def test_a_client_is_asked_only_if_it_said_that_it_can() -> None:
    able = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    for capabilities, sends, there in (
        (None, True, False),
        (types.ClientCapabilities(), True, False),
        (able, False, False),
        (able, True, True),
    ):
        session = Session(accepted("yes"), client_capabilities=capabilities, can_send_request=sends)
        assert (elicitation_for(cast("Any", Context(session))) is not None) is there
