"""What a command works with."""

from typing import NamedTuple

from marid.app.app import RequestScope
from marid.app.conversation_lookup import conversation_exists
from marid.app.conversation_settings import conversation_name
from marid.app.round_request import RoundRequest
from marid.app.tool_access import ToolAccess
from marid.faces.pipe.json_lines import JsonLineWriter
from marid.faces.pipe.json_request import JsonRequest
from marid.faces.pipe.round_events import RoundEventWriter


class JsonSession(NamedTuple):
    """One request on its way: the workbench, what is asked for, what it may do, and where it is told."""

    scope: RequestScope
    request: JsonRequest
    reach: ToolAccess
    writer: JsonLineWriter

    @property
    def round_events(self) -> RoundEventWriter:
        """Where what happens in a round goes."""
        return RoundEventWriter(self.writer)

    def conversation_for(self, field: str) -> str:
        """The name of the conversation that a command names in `field`, else of the one of the whole request."""
        return conversation_name(self.scope, self.request.conversation_for(field))

    def existing_conversation(self, field: str) -> str:
        """As `about`, but another one than that of the whole request must be there. Raises: NotFound."""
        name = self.conversation_for(field)
        conversation_exists(self.scope, name, unused=self.request.context)
        return name

    def note(self, text: str) -> None:
        """Something that whoever reads the events should know."""
        self.writer.write_event("note", text=text)

    def round_request(self, prompt: str, conversation: str) -> RoundRequest:
        """What is said under this request's conditions."""
        return RoundRequest(
            prompt=prompt,
            conversation=conversation,
            access=self.reach,
            force=self.request.force,
            debug=self.request.debug,
        )
