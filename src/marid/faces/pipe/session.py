"""The state of one request."""

from typing import NamedTuple

from marid.app.app import RequestScope
from marid.app.conversation_settings import conversation_name
from marid.app.conversations import conversation_exists
from marid.app.rounds import RoundRequest
from marid.app.tool_access import ToolAccess
from marid.core.events import Notice
from marid.faces.pipe.json_lines import JsonLineWriter
from marid.faces.pipe.json_request import JsonRequest


class JsonSession(NamedTuple):
    """One request: the app, the parsed request, what tools may access, and the output."""

    scope: RequestScope
    request: JsonRequest
    reach: ToolAccess
    writer: JsonLineWriter

    def conversation_for(self, field: str) -> str:
        """The name of the conversation in a field of the command, or else that of the request."""
        return conversation_name(self.scope, self.request.conversation_for(field))

    def existing_conversation(self, field: str) -> str:
        """As `conversation_for`; unless it is that of the request, it must exist. Raises: NotFound."""
        name = self.conversation_for(field)
        conversation_exists(self.scope, name, unused=self.request.context)
        return name

    def note(self, text: str) -> None:
        """Write a note event."""
        self.writer.write_event(Notice(text))

    def round_request(self, prompt: str, conversation: str) -> RoundRequest:
        """A round with the options of this request."""
        return RoundRequest(
            prompt=prompt,
            conversation=conversation,
            access=self.reach,
            force=self.request.force,
            debug=self.request.debug,
        )
