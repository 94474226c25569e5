"""What keeps conversations, as the verbs use it."""

from typing import NamedTuple

from marid.ports.conversations import Conversations, Inbox, Lifetimes, Session


class Memory(NamedTuple):
    """Made in bootstrap, for the settings of one conversation or of none."""

    conversations: Conversations
    lifetimes: Lifetimes
    session: Session
    inbox: Inbox
