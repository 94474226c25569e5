"""The one client for every call that leaves this machine."""

import contextlib
from collections.abc import Generator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from marid.core.errors import BadInput, Exhausted, NotFound, Refused, Unavailable
from marid.ports.web import PLAIN_PORTS, Moved, Page, Target
from marid.text.inflate import unpacker
from marid.text.urls import joined, parse

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpcore2 import Response

    from marid.adapters.addresses import Doors
    from marid.adapters.web_gate import Allowance, Dial, Resolve

MOST_BYTES = 5 << 20
MOST_HEADERS = 1 << 20
MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
GONE = (404, 410)
ENGINE = "https://html.duckduckgo.com/html/"
HEADERS = (
    ("User-Agent", "Mozilla/5.0 (compatible; marid)"),
    ("Accept", "text/html, application/xhtml+xml, text/*, application/json, application/xml;q=0.9"),
    ("Accept-Encoding", "gzip, deflate"),
    ("Accept-Language", "en, *;q=0.5"),
    ("Connection", "close"),
)


class Means(NamedTuple):
    """How names are looked up, addresses dialled and certificates judged; None: as the machine does it."""

    resolve: "Resolve | None" = None
    dial: "Dial | None" = None
    trust: "SSLContext | None" = None


class WebClient:
    """The port Web. `allow` are the places besides the public internet, as in the setting `net_allow`.

    No proxy, no cookies, no credentials, and nothing of the environment is used.
    """

    def __init__(self, *, allow: Sequence[str] = (), engine: str = ENGINE, means: Means | None = None) -> None:
        self._allow = tuple(allow)
        self._engine = engine
        self._means = means or Means()

    @property
    def engine(self) -> Target:
        """As in the port. Raises: BadInput for a setting that is no URL."""
        return parse(self._engine)

    def admit(self, target: Target) -> None:
        """As in the port."""
        self._doors.admit(target)

    def fetch(self, target: Target, *, most: int = MOST_BYTES, seconds: float = 20.0) -> Page | Moved:
        """As in the port."""
        from marid.adapters.web_gate import Allowance  # imported when used: with it comes the HTTP library

        most = min(most, MOST_BYTES)
        allowance = Allowance(seconds=seconds, most=MOST_BYTES + MOST_HEADERS)
        at = target
        for _ in range(MOST_REDIRECTS + 1):
            self.admit(at)
            with self._answer(at, allowance) as answer:
                if answer.status not in REDIRECTS:
                    return _page(at, answer, most)
                at = _next(at, answer)
            if not _same_place(target, at):
                self.admit(at)
                return Moved(target=at)
        raise Exhausted(f"'{target.place}' redirects more than {MOST_REDIRECTS} times")

    @contextlib.contextmanager
    def _answer(self, target: Target, allowance: "Allowance") -> "Generator[Response]":
        import httpcore2

        from marid.adapters import web_gate

        resolve, dial = self._means.resolve or web_gate.look_up, self._means.dial or web_gate.dial
        gate = web_gate.Gate(self._doors, allowance, resolve, dial)
        trust = self._trust if target.scheme == "https" else None
        where = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        try:
            with (
                httpcore2.ConnectionPool(network_backend=gate, ssl_context=trust, max_keepalive_connections=0) as pool,
                pool.stream("GET", where, headers=[("Host", target.place), *HEADERS]) as answer,
            ):
                yield answer
        except httpcore2.TimeoutException as cause:
            raise allowance.late() from cause
        except httpcore2.NetworkError as cause:
            raise Unavailable(f"the connection to '{target.place}' failed: {_words(cause)}") from cause
        except httpcore2.ProtocolError as cause:
            raise Unavailable(f"'{target.place}' sent what is no valid answer: {_words(cause)}") from cause

    @cached_property
    def _doors(self) -> "Doors":
        from marid.adapters.addresses import Doors  # imported when used

        return Doors(self._allow)

    @cached_property
    def _trust(self) -> "SSLContext":
        import httpcore2

        return self._means.trust or httpcore2.default_ssl_context()


def _next(at: Target, answer: "Response") -> Target:
    location = _header(answer, b"location")
    try:
        return joined(at, location)
    except BadInput as cause:
        raise Refused(f"'{at.place}' redirects to what cannot be fetched: {cause}") from cause


def _same_place(one: Target, other: Target) -> bool:
    """Whether who agreed to the one agreed to the other: with or without `www.`, plain or encrypted."""
    usual = PLAIN_PORTS.values()
    same_port = one.port == other.port or (one.port in usual and other.port in usual)
    return same_port and one.host.removeprefix("www.") == other.host.removeprefix("www.")


def _page(target: Target, answer: "Response", most: int) -> Page:
    if answer.status in GONE:
        raise NotFound(f"'{target.place}' has no such page (status {answer.status})")
    if not 200 <= answer.status < 300:
        raise Unavailable(f"'{target.place}' answers with status {answer.status}")
    kind, charset = _kind(answer)
    if not _is_text(kind):
        raise Refused(f"'{target.place}' sends {kind or 'an unnamed kind of content'!a}: only text is fetched")
    unpack = unpacker(_header(answer, b"content-encoding"))
    data = bytearray()
    for piece in answer.iter_stream():
        data += unpack.take(piece, most + 1 - len(data))
        if len(data) > most:
            return Page(target=target, kind=kind, charset=charset, data=bytes(data[:most]), whole=False)
    unpack.check_end()
    return Page(target=target, kind=kind, charset=charset, data=bytes(data), whole=True)


def _header(answer: "Response", name: bytes) -> str:
    """All values of a header, as one."""
    return ", ".join(value.decode("utf-8", "replace") for key, value in answer.headers if key.lower() == name)


def _kind(answer: "Response") -> tuple[str, str]:
    kind, *settings = (part.strip() for part in _header(answer, b"content-type").split(";"))
    charset = next((text[8:].strip(" \"'") for text in settings if text[:8].lower() == "charset="), "")
    return kind.lower(), charset.lower()


def _is_text(kind: str) -> bool:
    family, _, name = kind.partition("/")
    named = name in ("json", "xml") or name.endswith(("+json", "+xml"))
    return (family == "text" and bool(name)) or (family == "application" and named)


def _words(cause: Exception) -> str:
    text = str(cause) or type(cause).__name__
    return "".join(char if char.isprintable() else "?" for char in text[:200])
