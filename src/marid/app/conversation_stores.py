"""What keeps conversations, as the verbs use it."""

from typing import NamedTuple

from marid.ports.conversations import ConversationFiles, ConversationLifetimes, Conversations, Inbox, TerminalSession


class ConversationStores(NamedTuple):
    """One object of the home's store for each port; made once per process."""

    conversations: Conversations
    lifetimes: ConversationLifetimes
    session: TerminalSession
    inbox: Inbox
    files: ConversationFiles
