"""What happens, as events: progress lines, logs and wires are renderings of these.

Every event carries its stream, its number there and the caller, so that a reader can stop and continue from a cursor.
"""

from collections.abc import Awaitable, Callable
from threading import RLock
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from marid.core.caller import Caller

W = TypeVar("W")
W_co = TypeVar("W_co", covariant=True)


class Event(NamedTuple, Generic[W_co]):
    """One event: number `sequence` of the run `stream`, which `caller` started."""

    stream: str
    sequence: int
    caller: "Caller"
    what: W_co


EventListener: TypeAlias = Callable[[Event[W]], Awaitable[None]]
"""Listens to a round or to calls. It is awaited: a slow one holds back its source; what it raises ends the source."""
AsyncEmit: TypeAlias = Callable[[W], Awaitable[None]]


class WalkProgress(NamedTuple):
    """How many files are selected so far."""

    files: int


class PackProgress(NamedTuple):
    """How many files and bytes are written so far."""

    files: int
    bytes: int


class FileProblem(NamedTuple):
    """A selected file was left out, and why."""

    path: str
    reason: str


class Notice(NamedTuple):
    """A note for the reader that is not about one file."""

    text: str


class ToolCalled(NamedTuple):
    """A call is over; `code` is "ok", "cancelled" or the code of the error family. `call` is the id of the call."""

    tool: str
    code: str
    seconds: float
    call: str = ""

    @property
    def message(self) -> str:
        """The outcome in words."""
        return f"{self.code} after {self.seconds:.3f} s"


class QuestionAsked(NamedTuple):
    """A question waits for a person. `call` is the id of the call that asks.

    `preview` is what the person is shown. By `id` any process of the home finds the question and can answer it until
    `expires`; `always` says whether the answer may be "always".
    """

    id: str
    kind: str
    tool: str
    call: str = ""
    preview: str = ""
    expires: float = 0.0
    always: bool = False


class QuestionAnswered(NamedTuple):
    """The question no longer waits; `answer` is "yes", "no", "always" or, without one in time, "expired"."""

    id: str
    answer: str
    tool: str = ""
    call: str = ""


ContextEvent: TypeAlias = WalkProgress | PackProgress | FileProblem | Notice
ToolEvent: TypeAlias = ToolCalled | QuestionAsked | QuestionAnswered | Notice


Emit: TypeAlias = Callable[[ContextEvent], None]


class EventStream(Generic[W]):
    """Numbers the events of one run and passes them to a callback, one at a time and in order, from any thread."""

    def __init__(self, id: str, caller: "Caller", listener: Callable[[Event[W]], None]) -> None:
        self.id = id
        self.caller = caller
        self._listener = listener
        self._next = 0
        self._lock = RLock()

    def emit(self, what: W) -> None:
        """Pass on `what` with the next number."""
        with self._lock:
            event = Event(self.id, self._next, self.caller, what)
            self._next += 1
            self._listener(event)
