"""Port to outlines of files, which are made in worker processes."""

from collections.abc import Sequence
from typing import Protocol


class Outlines(Protocol):
    """None means that a file has no outline: unknown language, nothing to show, or too hard to parse.

    Both methods raise Unavailable if no parser can be started.
    """

    def outline(self, data: bytes, language: str) -> str | None:
        """The outline of one file."""
        ...

    def outlines(self, items: Sequence[tuple[bytes, str]]) -> list[str | None]:
        """The outline of each (data, language) in order, made on several cores if that pays."""
        ...
