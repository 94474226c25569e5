"""What a conversation keeps besides its entries, for the tools that write it."""

from typing import Protocol


class NoteWriter(Protocol):
    """The todos and goals of the conversation that a call belongs to. Raises Unavailable when they cannot be kept."""

    def write(self, name: str, text: str) -> None:
        """Replace `todos` or `goals` as a whole."""
        ...


class ReflectionWriter(Protocol):
    """What the model remembers across all conversations of a home; not there where it is switched off."""

    def write(self, text: str) -> None:
        """Replace it as a whole. Raises: BadInput when it is longer than the settings allow; Unavailable."""
        ...
