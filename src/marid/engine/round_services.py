"""What a round of a conversation gives its tools, besides what every caller's tools have."""

from marid.core.hooks import Hooks
from marid.core.settings.values import Settings
from marid.engine.conversation_notes import ConversationNotes, HomeReflection
from marid.engine.home_peers import HomePeers
from marid.engine.model_catalogue import ModelCatalogue
from marid.engine.result_entries import MAX_RESULT_BYTES
from marid.engine.round_handoff import RoundHandoff
from marid.ports.conversations import Conversations, Inbox
from marid.ports.handoff import Handoff
from marid.ports.model import Model, ModelLookup
from marid.ports.notes import NoteWriter, ReflectionWriter
from marid.ports.peers import Peers
from marid.ports.transcript import Conversation
from marid.toolkit.clip import FixedResultLimit, ResultLimit


def home_services(
    own: str, conversations: Conversations, inbox: Inbox, model: Model, hooks: Hooks | None = None
) -> dict[type, object]:
    """Those for which the conversation, which is called `own`, need not be held, nor even be there."""
    return {Peers: HomePeers(conversations, inbox, own, hooks), ModelLookup: ModelCatalogue(model)}


def conversation_services(
    conversation: Conversation, conversations: Conversations, inbox: Inbox, model: Model, settings: Settings
) -> dict[type, object]:
    """Ports by type, for the scope of the round's calls; a tool whose port is missing is neither shown nor run."""
    services = home_services(conversation.meta().name, conversations, inbox, model)
    services |= {
        NoteWriter: ConversationNotes(conversation),
        Handoff: RoundHandoff(),
        ResultLimit: FixedResultLimit(MAX_RESULT_BYTES),
    }
    if settings.conversation.reflection_enabled:
        services[ReflectionWriter] = HomeReflection(conversation, settings.conversation.reflection_character_limit)
    return services
