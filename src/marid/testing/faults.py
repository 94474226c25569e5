"""What can go wrong: refusals, which are responses, and faults, which damage the response of a turn.

`after` counts the pieces of content that were sent before the fault: pieces of text, of reasoning and of a call's
arguments. So a script means the same in every protocol, though their events differ in number.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, InstanceOf

RefusalKind: TypeAlias = Literal[
    "rate_limit", "unauthorized", "context", "server", "overloaded", "bad_request", "unknown_model"
]
# The limits hold for a script in a file.
Count: TypeAlias = Annotated[int, Field(ge=0)]
AtLeastOne: TypeAlias = Annotated[int, Field(ge=1)]
# Sent in the head of a response, where a line break would begin another header.
HeaderText: TypeAlias = Annotated[str, Field(pattern="^[ -~]*$")]
CutKind: TypeAlias = Literal["close", "reset", "clean"]
STATUS: Mapping[str, int] = {
    "rate_limit": 429,
    "unauthorized": 401,
    "context": 400,
    "server": 500,
    "overloaded": 503,
    "bad_request": 400,
    "unknown_model": 404,
}


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An error with a status and the message of the provider that was asked, or a `page` of HTML."""

    kind: RefusalKind
    status: Annotated[int, Field(ge=200, le=599)] | None = None
    message: str = ""
    retry_after: Count | Annotated[float, Field(ge=0)] | HeaderText | None = None
    limit: Count = 0
    used: Count = 0
    page: str = ""
    headers: Mapping[HeaderText, HeaderText] = field(default_factory=dict[str, str])

    def text(self, template: str) -> str:
        """The message; `template` is the provider's own."""
        return self.message or template.format(limit=self.limit, used=self.used)


def rate_limited(retry_after: float | str | None = 1, message: str = "") -> Refusal:
    """Status 429; a string as `retry_after` is sent unchanged, so it may be a date."""
    return Refusal(kind="rate_limit", retry_after=retry_after, message=message)


def unauthorized_error(message: str = "") -> Refusal:
    """Status 401."""
    return Refusal(kind="unauthorized", message=message)


def context_too_long(limit: int = 8192, used: int = 9000) -> Refusal:
    """Status 400 with the provider's message that the prompt does not fit."""
    return Refusal(kind="context", limit=limit, used=used)


def server_error(status: int = 500, message: str = "") -> Refusal:
    """Status 500 or another."""
    return Refusal(kind="server", status=status, message=message)


def gateway_error(status: int = 502) -> Refusal:
    """An HTML page of a proxy in front of the provider."""
    page = f"<html><head><title>{status}</title></head><body><h1>{status} Bad Gateway</h1></body></html>"
    return Refusal(kind="server", status=status, page=page)


def overloaded_error(retry_after: float | str | None = None) -> Refusal:
    """Status 503, and 529 from Anthropic."""
    return Refusal(kind="overloaded", retry_after=retry_after)


def bad_request(message: str = "") -> Refusal:
    """Status 400, for another reason than the length of the prompt."""
    return Refusal(kind="bad_request", message=message)


def unknown_model(message: str = "") -> Refusal:
    """Status 404."""
    return Refusal(kind="unknown_model", message=message)


class Gate:
    """Holds the server until a test releases it; then it stays open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reached = threading.Event()
        self._released = threading.Event()
        self._waiting: list[Callable[[], object]] = []

    @property
    def open(self) -> bool:
        """Whether it was released."""
        return self._released.is_set()

    def wait(self, seconds: float = 5.0) -> bool:
        """Whether the server arrives within `seconds`."""
        return self._reached.wait(seconds)

    def release(self) -> None:
        """Let the server go on, now and later."""
        with self._lock:
            self._released.set()
            wakes, self._waiting = self._waiting, []
        for wake in wakes:
            wake()

    def arrive(self, wake: Callable[[], object]) -> None:
        """Called by the server: `wake` is called at the release, or now if it was released before."""
        with self._lock:
            self._reached.set()
            if not self.open:
                self._waiting.append(wake)
                return
        wake()

    def leave(self, wake: Callable[[], object]) -> None:
        """Called by the server when it stops waiting."""
        with self._lock:
            self._waiting = [other for other in self._waiting if other != wake]


@dataclass(frozen=True, kw_only=True)
class Stall:
    """Sends nothing more until the gate is released, the client leaves or the server stops."""

    gate: InstanceOf[Gate] = field(default_factory=Gate)
    after: Count = 0
    before_headers: bool = False


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Ends the response after `bytes` of the body, else after `events`, else `after` pieces.

    `close` closes the connection, `reset` resets it, `clean` ends the response as if it were complete.
    """

    after: Count = 0
    events: Count | None = None
    bytes: Count | None = None
    how: CutKind = "close"


@dataclass(frozen=True, kw_only=True)
class Hangup:
    """Closes the connection without a response."""


@dataclass(frozen=True, kw_only=True)
class Insert:
    """Sends bytes that no provider would send."""

    data: bytes
    after: Count = 0


def malformed_event(after: Count = 0) -> Insert:
    """An event with incomplete JSON."""
    return Insert(data=b'event: content_block_delta\ndata: {"id": "broken", "choices": [{"delta"\n\n', after=after)


def comment(text: str = "keep-alive", after: Count = 0) -> Insert:
    """A comment in the event stream."""
    return Insert(data=f": {text}\n\n".encode(), after=after)


@dataclass(frozen=True, kw_only=True)
class StreamError:
    """Ends a stream with an error event."""

    refusal: Refusal = field(default_factory=overloaded_error)
    after: Count = 0


@dataclass(frozen=True, kw_only=True)
class SplitUtf8:
    """Sends every character of several bytes in two chunks."""


@dataclass(frozen=True, kw_only=True)
class Trickle:
    """Sends chunks of `size` bytes with `pause` seconds between them."""

    size: AtLeastOne = 1
    pause: Annotated[float, Field(ge=0, le=86_400)] = 0.0


@dataclass(frozen=True, kw_only=True)
class WrongType:
    """Sends the right response with the wrong content type."""

    kind: HeaderText = "text/html"


Fault: TypeAlias = Stall | Cut | Hangup | Insert | StreamError | SplitUtf8 | Trickle | WrongType
