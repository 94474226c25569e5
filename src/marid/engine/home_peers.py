"""The other conversations of the home, as a round's tools see them."""

from marid.core.conversation.entry import ANCHORS, MESSAGE, TOOL_STARTED, Entry
from marid.core.conversation.records import InboxMessage
from marid.core.hooks import DeliveryPayload, HookRunner, Hooks
from marid.ports.conversations import Conversations, Inbox
from marid.ports.peers import Peer, PeerEntry, Peers
from marid.text.conversation_names import check_conversation_name

MAX_MESSAGE_CHARACTERS = 10_000
"""Of one message that another conversation holds."""
# Marks that say nothing.
_MARKER_TYPES = ANCHORS | {TOOL_STARTED}


class HomePeers(Peers):
    """Looks into them, whoever holds them; `own` is the name of the conversation that looks and sends."""

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
