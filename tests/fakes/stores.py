"""Stores as tests want them."""

import time
from collections.abc import Callable

from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.open_conversation import OpenConversation
from marid.core.conversation.records import StorageSettings


class TunedConversations(FileConversations):
    """Opens conversations with the storage settings of a test."""

    def __init__(self, home: str, storage: StorageSettings, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(home, clock=clock)
        self._tuned = storage

    def open(
        self, key: str, storage: StorageSettings | None = None, *, wait: float = 0.0, create: bool = False
    ) -> OpenConversation:
        return super().open(key, self._tuned, wait=wait, create=create)
