"""What happens while a verb runs. Progress lines, logs and wires are renderings of these.

Every event has its place, (stream, sequence), so that a reader may stop and go on from a cursor.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class WalkProgress(NamedTuple):
    """So many files are selected so far."""

    files: int


class PackProgress(NamedTuple):
    """So many files and bytes are written so far."""

    files: int
    bytes: int


class FileProblem(NamedTuple):
    """Something was left out that the rules had selected, and why."""

    path: str
    reason: str


class Notice(NamedTuple):
    """Something the reader should know that is no problem of one file."""

    text: str


class ToolCalled(NamedTuple):
    """A tool was called; `code` is "ok" or the code of the error family."""

    tool: str
    code: str
    seconds: float


class QuestionAsked(NamedTuple):
    """A question waits for a person."""

    id: str
    kind: str
    tool: str


class QuestionAnswered(NamedTuple):
    """The question does not wait any more; `answer` is "yes", "no", "always" or, without one in time, "expired"."""

    id: str
    answer: str


ContextEvent: TypeAlias = WalkProgress | PackProgress | FileProblem | Notice
ToolEvent: TypeAlias = ToolCalled | QuestionAsked | QuestionAnswered | Notice


class Event(NamedTuple):
    """A happening at its place in its stream."""

    stream: str
    sequence: int
    what: ContextEvent


Emit: TypeAlias = Callable[[ContextEvent], None]


class EventStream:
    """Numbers what one run emits and hands it on."""

    def __init__(self, stream: str, listener: Callable[[Event], None]) -> None:
        self._stream = stream
        self._listener = listener
        self._next = 0

    def emit(self, what: ContextEvent) -> None:
        """Give `what` the next number and pass it on."""
        event = Event(stream=self._stream, sequence=self._next, what=what)
        self._next += 1
        self._listener(event)
