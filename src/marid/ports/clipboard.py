"""The place that other programs paste from."""

from typing import Protocol


class Clipboard(Protocol):
    """Takes text as UTF-8 bytes."""

    def copy(self, data: bytes) -> str:
        """Put the text there and return the name of what took it; raises Unavailable that names what was looked for."""
        ...
