"""What happens while a verb runs. Progress lines, logs and wires are renderings of these.

Every event has its place, (stream, sequence), so that a reader may stop and go on from a cursor.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Walked(NamedTuple):
    """So many files are selected so far."""

    files: int


class Packed(NamedTuple):
    """So many files and bytes are written so far."""

    files: int
    bytes: int


class Problem(NamedTuple):
    """Something was left out that the rules had selected, and why."""

    path: str
    reason: str


class Note(NamedTuple):
    """Something the reader should know that is no problem of one file."""

    text: str


class Called(NamedTuple):
    """A tool was called; `code` is "ok" or the code of the error family."""

    tool: str
    code: str
    seconds: float


class Asked(NamedTuple):
    """A question waits for a person."""

    id: str
    kind: str
    tool: str


class Answered(NamedTuple):
    """The question does not wait any more; `answer` is "yes", "no", "always" or, without one in time, "expired"."""

    id: str
    answer: str


Happening: TypeAlias = Walked | Packed | Problem | Note
ToolHappening: TypeAlias = Called | Asked | Answered | Note


class Event(NamedTuple):
    """A happening at its place in its stream."""

    stream: str
    sequence: int
    what: Happening


Emit: TypeAlias = Callable[[Happening], None]


class Stream:
    """Numbers what one run emits and hands it on."""

    def __init__(self, stream: str, listener: Callable[[Event], None]) -> None:
        self._stream = stream
        self._listener = listener
        self._next = 0

    def emit(self, what: Happening) -> None:
        """Give `what` the next number and pass it on."""
        event = Event(stream=self._stream, sequence=self._next, what=what)
        self._next += 1
        self._listener(event)
