"""What can go wrong on the way: refusals, which are answers of their own, and faults, which spoil a turn's answer.

`after` counts the pieces of content that went out before the fault: pieces of text, of reasoning and of a call's
arguments. So the same script means the same in every protocol, whose events differ in number.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

RefusalKind: TypeAlias = Literal[
    "rate_limit", "unauthorized", "context", "server", "overloaded", "bad_request", "unknown_model"
]
CutKind: TypeAlias = Literal["close", "reset", "clean"]


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An error with a status, told in the words of the provider that was asked; a `page` of HTML takes their place."""

    kind: RefusalKind
    status: int | None = None
    message: str = ""
    retry_after: float | str | None = None
    limit: int = 0
    used: int = 0
    page: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def rate_limited(retry_after: float | str | None = 1, message: str = "") -> Refusal:
    """Status 429; a text as `retry_after` is sent as it is, so it may be a date."""
    return Refusal(kind="rate_limit", retry_after=retry_after, message=message)


def unauthorized_error(message: str = "") -> Refusal:
    """Status 401."""
    return Refusal(kind="unauthorized", message=message)


def context_too_long(limit: int = 8192, used: int = 9000) -> Refusal:
    """Status 400, by which each provider says that the prompt does not fit."""
    return Refusal(kind="context", limit=limit, used=used)


def server_error(status: int = 500, message: str = "") -> Refusal:
    """Any status of the server's own making."""
    return Refusal(kind="server", status=status, message=message)


def gateway_error(status: int = 502) -> Refusal:
    """A page of HTML from something that stands before the provider."""
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
    """Where the server waits and a test lets it go on; once released it stays open."""

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
        """Whether the server got here within so many seconds."""
        return self._reached.wait(seconds)

    def release(self) -> None:
        """Let go who waits, and whoever comes later."""
        with self._lock:
            self._released.set()
            waiting, self._waiting = self._waiting, []
        for wake in waiting:
            wake()

    def arrive(self, wake: Callable[[], object]) -> None:
        """Called by the server: `wake` is called at the release, at once if that was before."""
        with self._lock:
            self._reached.set()
            if not self.open:
                self._waiting.append(wake)
                return
        wake()

    def leave(self, wake: Callable[[], object]) -> None:
        """Called by the server when it waits no longer."""
        with self._lock:
            self._waiting = [other for other in self._waiting if other != wake]


@dataclass(frozen=True, kw_only=True)
class Stall:
    """Nothing more comes until the gate is released, the client leaves or the server stops."""

    gate: Gate = field(default_factory=Gate)
    after: int = 0
    before_headers: bool = False


@dataclass(frozen=True, kw_only=True)
class Cut:
    """The answer breaks off: after so many bytes of the body, else so many events, else so many pieces.

    `close` ends the connection in mid-answer, `reset` does so rudely, `clean` ends the answer as if that were all.
    """

    after: int = 0
    events: int | None = None
    bytes: int | None = None
    how: CutKind = "close"


@dataclass(frozen=True, kw_only=True)
class Hangup:
    """The connection closes without any answer."""


@dataclass(frozen=True, kw_only=True)
class Insert:
    """Bytes that no provider would send there."""

    data: bytes
    after: int = 0


def malformed_event(after: int = 0) -> Insert:
    """An event whose JSON is not finished."""
    return Insert(data=b'event: content_block_delta\ndata: {"id": "broken", "choices": [{"delta"\n\n', after=after)


def comment(text: str = "keep-alive", after: int = 0) -> Insert:
    """A comment of the event stream, which means nothing."""
    return Insert(data=f": {text}\n\n".encode(), after=after)


@dataclass(frozen=True, kw_only=True)
class StreamError:
    """An error told as an event of a stream that began well; the stream ends with it."""

    refusal: Refusal = field(default_factory=overloaded_error)
    after: int = 0


@dataclass(frozen=True, kw_only=True)
class SplitUtf8:
    """Every character of several bytes comes in two chunks."""


@dataclass(frozen=True, kw_only=True)
class Trickle:
    """Chunks of `size` bytes with `pause` seconds between them."""

    size: int = 1
    pause: float = 0.0


@dataclass(frozen=True, kw_only=True)
class WrongType:
    """The right answer under the wrong content type."""

    kind: str = "text/html"


Fault: TypeAlias = Stall | Cut | Hangup | Insert | StreamError | SplitUtf8 | Trickle | WrongType
