"""Port to the clipboard."""

from typing import Protocol


class Clipboard(Protocol):
    """Takes text as UTF-8 bytes."""

    def copy(self, data: bytes) -> str:
        """Copy the text. Returns the program that took it. Raises: Unavailable with the programs that were tried."""
        ...
