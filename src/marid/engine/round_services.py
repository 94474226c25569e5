"""What a round of a conversation gives its tools, besides what every caller's tools have."""

from marid.core.conversation.entry import ANCHORS, MESSAGE, TOOL_STARTED, Entry
from marid.core.conversation.records import InboxMessage
from marid.core.errors import BadInput
from marid.core.hooks import DeliveryPayload, HookRunner, Hooks
from marid.core.model_io import ModelInfo
from marid.core.settings.values import Settings
from marid.engine.round_entries import MAX_RESULT_BYTES
from marid.ports.conversations import Conversations, Inbox
from marid.ports.handoff import Handoff
from marid.ports.model import Model, ModelLookup
from marid.ports.notes import NoteWriter, ReflectionWriter
from marid.ports.peers import Peer, PeerEntry, Peers
from marid.ports.transcript import Conversation
from marid.text.conversation_names import check_conversation_name
from marid.toolkit.outcome import FixedResultLimit, ResultLimit

MAX_MESSAGE_CHARACTERS = 10_000
"""Of one message that another conversation holds."""
# Entries without text for a reader.
_MARKER_TYPES = ANCHORS | {TOOL_STARTED}


class HomePeers(Peers):
    """Reads conversations without their lease; `own` is the name of the conversation that reads and sends."""

    def __init__(self, conversations: Conversations, inbox: Inbox, own: str, hooks: Hooks | None = None) -> None:
        self._conversations = conversations
        self._inbox = inbox
        self._own = own
        self._hooks = hooks

    def get_peer(self, name: str, messages: int) -> Peer:
        """As in the port; long messages are cut."""
        there = self._conversations.read(check_conversation_name(name))
        entries = [entry for entry in there.window() if entry.entry_type not in _MARKER_TYPES]
        return Peer(
            name=there.meta().name,
            summary=there.read_note("summary"),
            todos=there.read_note("todos"),
            goals=there.read_note("goals"),
            messages=sum(entry.entry_type == MESSAGE for entry in entries),
            recent=tuple(_peer_message(entry) for entry in entries[max(0, len(entries) - messages) :]),
        )

    def send(self, to: str, content: str, sender: str = "") -> None:
        """As in the port. Who sends is a name too: it stands before the message where that is read."""
        name = self._conversations.resolve_name(to)
        self._deliver(
            InboxMessage(sender=check_conversation_name(sender) if sender else self._own, to=name, content=content)
        )

    def _deliver(self, message: InboxMessage) -> None:
        """To the inbox, unless a hook has delivered it."""
        if self._hooks is None:
            self._inbox.send(message)
            return
        payload, runner = DeliveryPayload(message.sender, message.to, message.content), HookRunner()
        delivered = runner.results(self._hooks.pre_send_message, payload)
        if not delivered:
            self._inbox.send(message)
        runner.observe(self._hooks.post_send_message, payload._replace(via=delivered[0].via if delivered else "inbox"))


def _peer_message(entry: Entry) -> PeerEntry:
    over = len(entry.content) - MAX_MESSAGE_CHARACTERS
    cut = f"{entry.content[:MAX_MESSAGE_CHARACTERS]}… [{over:,} more characters]" if over > 0 else entry.content
    return PeerEntry(sender=entry.sender, content=cut, type=entry.entry_type)


WRITABLE_NOTES = ("todos", "goals")


class ConversationNotes(NoteWriter):
    """The notes of the round's conversation that its model may write."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def write(self, name: str, text: str) -> None:
        """As in the port. Raises also: BadInput for a note that is not the model's; Refused when archived."""
        if name not in WRITABLE_NOTES:
            raise BadInput(f"a model has {' and '.join(WRITABLE_NOTES)}, and no '{name}'")
        self._conversation.write_note(name, text)


class HomeReflection(ReflectionWriter):
    """The note that all conversations share; `limit` is in characters, 0 for no text at all."""

    def __init__(self, conversation: Conversation, limit: int) -> None:
        self._conversation = conversation
        self._limit = limit

    def write(self, text: str) -> None:
        """As in the port."""
        if len(text) > self._limit:
            raise BadInput(f"a reflection has at most {self._limit:,} characters, this one {len(text):,}: shorten it")
        self._conversation.write_note("reflection", text)


class ModelCatalogue(ModelLookup):
    """Asks the provider of the round."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def info(self, name: str) -> ModelInfo:
        """As in the port."""
        return await self._model.info(name)


class RoundHandoff(Handoff):
    """Tells the model what its call means. The round reads the call itself in the history."""

    def hand_to_user(self, message: str) -> str:
        """As in the port."""
        return "The round ends here, with your message to the user." if message else "The round ends here."

    def hand_to_agent(self, prompt: str) -> str:
        """As in the port."""
        del prompt
        return "You go on after your next words, with the prompt that you gave."


def home_services(
    own: str, conversations: Conversations, inbox: Inbox, model: Model, hooks: Hooks | None = None
) -> dict[type, object]:
    """The services for which the conversation `own` need not be open, nor even exist."""
    return {Peers: HomePeers(conversations, inbox, own, hooks), ModelLookup: ModelCatalogue(model)}


def conversation_services(conversation: Conversation, settings: Settings) -> dict[type, object]:
    """What tools need of the conversation itself; a tool whose port is missing is neither shown nor run."""
    services: dict[type, object] = {
        NoteWriter: ConversationNotes(conversation),
        Handoff: RoundHandoff(),
        ResultLimit: FixedResultLimit(MAX_RESULT_BYTES),
    }
    if settings.conversation.reflection_enabled:
        services[ReflectionWriter] = HomeReflection(conversation, settings.conversation.reflection_character_limit)
    return services
