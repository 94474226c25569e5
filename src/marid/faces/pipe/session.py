"""What a command works with."""

from typing import NamedTuple

from marid.app.adjusting import named
from marid.app.app import App
from marid.app.presence import is_there
from marid.app.reach import Reach
from marid.app.saying import Saying
from marid.faces.pipe.happenings import Teller
from marid.faces.pipe.request import Request
from marid.faces.pipe.wire import Wire


class Session(NamedTuple):
    """One request on its way: the workbench, what is asked for, what it may do, and where it is told."""

    app: App
    request: Request
    reach: Reach
    wire: Wire

    @property
    def face(self) -> str:
        """The way in, as records and approvals name it."""
        return "json"

    @property
    def tell(self) -> Teller:
        """Where what happens in a round goes."""
        return Teller(self.wire)

    def about(self, field: str) -> str:
        """The name of the conversation that a command names in `field`, else of the one of the whole request."""
        return named(self.app, self.request.about(field))

    def existing(self, field: str) -> str:
        """As `about`, but another one than that of the whole request must be there. Raises: NotFound."""
        name = self.about(field)
        is_there(self.app, name, unused=self.request.context)
        return name

    def note(self, text: str) -> None:
        """Something that whoever reads the events should know."""
        self.wire.event("note", text=text)

    def saying(self, prompt: str, conversation: str) -> Saying:
        """What is said under this request's conditions."""
        return Saying(
            prompt=prompt,
            conversation=conversation,
            reach=self.reach,
            flags=self.request.settings,
            force=self.request.force,
            debug=self.request.debug,
            face=self.face,
        )
