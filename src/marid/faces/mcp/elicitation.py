"""Asking the person behind a client, where the client has a way to ask."""

from typing import TYPE_CHECKING, Any

from marid.core.policy.approval import ApprovalAnswer, Question

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp.server.session import ServerSession


def elicitation_for(context: "ServerRequestContext[Any]") -> "Elicitation | None":
    """Somebody to ask, if the client said that it can."""
    session = context.session
    able = session.client_capabilities
    if able is None or able.elicitation is None or not session.can_send_request:
        return None
    return Elicitation(session, context.request_id)


class Elicitation:
    """Shows the question in the client and takes the person's choice; closing the form is a no."""

    def __init__(self, session: "ServerSession", request: "str | int | None") -> None:
        self._session = session
        self._request = request

    async def ask(self, question: Question) -> ApprovalAnswer | None:
        """What the person says; None when the client cannot ask after all."""
        from mcp.shared.exceptions import MCPError

        offered = [answer.value for answer in ApprovalAnswer if question.always or answer is not ApprovalAnswer.ALWAYS]
        schema = {
            "type": "object",
            "properties": {"answer": {"type": "string", "title": "Allow it?", "enum": offered}},
            "required": ["answer"],
        }
        try:
            said = await self._session.elicit_form(f"{question.tool}:\n{question.text}", schema, self._request)
        except MCPError:
            return None
        if said.action != "accept" or not said.content or said.content.get("answer") not in offered:
            return ApprovalAnswer.NO
        return ApprovalAnswer(said.content["answer"])
