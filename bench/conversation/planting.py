"""Conversations of any size, made once and kept."""

import random
import shutil
from pathlib import Path

from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import MESSAGE, Entry

WINDOW = 50
_WORDS = [f"word{number}" for number in range(5000)]
# Another name whenever what is planted changes: an old one is planted anew.
_DONE = "planted-2"


def entry(chance: random.Random, number: int) -> Entry:
    """A message of some forty words."""
    content = " ".join(chance.choices(_WORDS, k=40))
    return Entry(entry_type=MESSAGE, content=content, sender="user", to="bench", role="user", id=f"entry-{number}")


def plant(home: Path, count: int) -> FileConversations:
    """A home whose conversation `bench` has so many entries, the last of them after an anchor."""
    conversations = FileConversations(str(home))
    done = home / _DONE
    if done.exists():
        return conversations
    shutil.rmtree(home, ignore_errors=True)
    conversations.create("bench")
    chance = random.Random(1)
    with conversations.open("bench") as held:
        number = 1
        while number < count - WINDOW:
            size = min(1000, count - WINDOW - number)
            held.append([entry(chance, number + offset) for offset in range(size)])
            number += size
        held.clear()
        for offset in range(WINDOW):
            held.append([entry(chance, number + offset)])
    done.touch()
    return conversations
