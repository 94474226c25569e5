"""Ports for the tools that write the notes of a conversation."""

from typing import Protocol


class NoteWriter(Protocol):
    """The todos and goals of the call's conversation."""

    def write(self, name: str, text: str) -> None:
        """Replace `todos` or `goals`. Raises: Unavailable."""
        ...


class ReflectionWriter(Protocol):
    """What the model remembers across all conversations of a home; absent if it is switched off."""

    def write(self, text: str) -> None:
        """Replace it. Raises: BadInput if it is longer than the settings allow; Unavailable."""
        ...
