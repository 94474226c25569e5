"""What the model of a round may write down: for its conversation, and for all conversations of the home."""

from marid.core.errors import BadInput
from marid.ports.notes import NoteWriter, ReflectionWriter
from marid.ports.transcript import Conversation

WRITABLE = ("todos", "goals")
REFLECTION = "reflection"


class ConversationNotes(NoteWriter):
    """The notes of the conversation that the round holds."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def write(self, name: str, text: str) -> None:
        """As in the port. Raises besides: BadInput for a note that is not the model's; Refused when archived."""
        if name not in WRITABLE:
            raise BadInput(f"a model has {' and '.join(WRITABLE)}, and no '{name}'")
        self._conversation.write_note(name, text)


class HomeReflection(ReflectionWriter):
    """What all conversations share; `limit` is in characters, 0 for none at all."""

    def __init__(self, conversation: Conversation, limit: int) -> None:
        self._conversation = conversation
        self._limit = limit

    def write(self, text: str) -> None:
        """As in the port."""
        if len(text) > self._limit:
            raise BadInput(f"a reflection has at most {self._limit:,} characters, this one {len(text):,}: shorten it")
        self._conversation.write_note(REFLECTION, text)
