"""The signatures of a file, made where hostile input can do no harm."""

from collections.abc import Sequence
from typing import Protocol


class Outlines(Protocol):
    """None stands for every file that has no outline: unknown language, nothing to show, or too hard to parse."""

    def outline(self, data: bytes, language: str) -> str | None:
        """The outline of one file.

        Raises:
            Unavailable: no parser can be started on this machine.
        """
        ...

    def outlines(self, items: Sequence[tuple[bytes, str]]) -> list[str | None]:
        """One answer for each (data, language), in their order; made on several cores when it pays.

        Raises:
            Unavailable: no parser can be started on this machine.
        """
        ...
