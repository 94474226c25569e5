"""What keeps conversations, as the verbs use it."""

from typing import NamedTuple

from marid.ports.conversations import ConversationLifetimes, Conversations, Inbox, TerminalSession


class ConversationStores(NamedTuple):
    """Made in bootstrap, for the settings of one conversation or of none."""

    conversations: Conversations
    lifetimes: ConversationLifetimes
    session: TerminalSession
    inbox: Inbox
