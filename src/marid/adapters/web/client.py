"""The one client for every call that leaves this machine."""

import contextlib
from collections.abc import Generator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from marid.core.errors import BadInput, Exhausted, NotFound, Refused, Unavailable
from marid.ports.web import PLAIN_PORTS, CrossHostRedirect, Target, WebPage
from marid.text.web.http_urls import join_url, parse_url
from marid.text.web.inflate import make_decompressor

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpcore2 import Response

    from marid.adapters.web.address_policy import AddressPolicy
    from marid.adapters.web.guarded_backend import Dial, Resolve, TransferBudget

MAX_BYTES = 5 << 20
MAX_HEADER_BYTES = 1 << 20
MAX_REDIRECTS = 5
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


class NetworkFunctions(NamedTuple):
    """How names are looked up, addresses dialled and certificates judged; None: as the machine does it."""

    resolve: "Resolve | None" = None
    dial: "Dial | None" = None
    ssl_context: "SSLContext | None" = None


class WebClient:
    """The port Web. `allow` are the places besides the public internet, as in the setting `net_allow`.

    No proxy, no cookies, no credentials, and nothing of the environment is used.
    """

    def __init__(
        self, *, allow: Sequence[str] = (), engine: str = ENGINE, network: NetworkFunctions | None = None
    ) -> None:
        self._allow = tuple(allow)
        self._engine = engine
        self._network = network or NetworkFunctions()

    @property
    def search_target(self) -> Target:
        """As in the port. Raises: BadInput for a setting that is no URL."""
        return parse_url(self._engine)

    def check_target(self, target: Target) -> None:
        """As in the port."""
        self._address_policy.check_target(target)

    def fetch(
        self, target: Target, *, max_bytes: int = MAX_BYTES, timeout: float = 20.0
    ) -> WebPage | CrossHostRedirect:
        """As in the port."""
        from marid.adapters.web.guarded_backend import (
            TransferBudget,  # imported when used: with it comes the HTTP library
        )

        max_bytes = min(max_bytes, MAX_BYTES)
        allowance = TransferBudget(timeout=timeout, max_bytes=MAX_BYTES + MAX_HEADER_BYTES)
        at = target
        for _ in range(MAX_REDIRECTS + 1):
            self.check_target(at)
            with self._open_response(at, allowance) as answer:
                if answer.status not in REDIRECTS:
                    return _read_page(at, answer, max_bytes)
                at = _redirect_target(at, answer)
            if not _is_same_site(target, at):
                self.check_target(at)
                return CrossHostRedirect(target=at)
        raise Exhausted(f"'{target.authority}' redirects more than {MAX_REDIRECTS} times")

    @contextlib.contextmanager
    def _open_response(self, target: Target, allowance: "TransferBudget") -> "Generator[Response]":
        import httpcore2

        from marid.adapters.web import guarded_backend

        resolve, dial = (
            self._network.resolve or guarded_backend.resolve_host,
            self._network.dial or guarded_backend.connect_address,
        )
        gate = guarded_backend.GuardedBackend(self._address_policy, allowance, resolve, dial)
        trust = self._ssl_context if target.scheme == "https" else None
        where = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        try:
            with (
                httpcore2.ConnectionPool(network_backend=gate, ssl_context=trust, max_keepalive_connections=0) as pool,
                pool.stream("GET", where, headers=[("Host", target.authority), *HEADERS]) as answer,
            ):
                yield answer
        except httpcore2.TimeoutException as cause:
            raise allowance.timeout_error() from cause
        except httpcore2.NetworkError as cause:
            raise Unavailable(f"the connection to '{target.authority}' failed: {_error_text(cause)}") from cause
        except httpcore2.ProtocolError as cause:
            raise Unavailable(f"'{target.authority}' sent what is no valid answer: {_error_text(cause)}") from cause

    @cached_property
    def _address_policy(self) -> "AddressPolicy":
        from marid.adapters.web.address_policy import AddressPolicy  # imported when used

        return AddressPolicy(self._allow)

    @cached_property
    def _ssl_context(self) -> "SSLContext":
        import httpcore2

        return self._network.ssl_context or httpcore2.default_ssl_context()


def _redirect_target(at: Target, answer: "Response") -> Target:
    location = _header(answer, b"location")
    try:
        return join_url(at, location)
    except BadInput as cause:
        raise Refused(f"'{at.authority}' redirects to what cannot be fetched: {cause}") from cause


def _is_same_site(one: Target, other: Target) -> bool:
    """Whether who agreed to the one agreed to the other: with or without `www.`, plain or encrypted."""
    usual = PLAIN_PORTS.values()
    same_port = one.port == other.port or (one.port in usual and other.port in usual)
    return same_port and one.host.removeprefix("www.") == other.host.removeprefix("www.")


def _read_page(target: Target, answer: "Response", most: int) -> WebPage:
    if answer.status in GONE:
        raise NotFound(f"'{target.authority}' has no such page (status {answer.status})")
    if not 200 <= answer.status < 300:
        raise Unavailable(f"'{target.authority}' answers with status {answer.status}")
    kind, charset = _kind(answer)
    if not _is_text(kind):
        raise Refused(f"'{target.authority}' sends {kind or 'an unnamed kind of content'!a}: only text is fetched")
    unpack = make_decompressor(_header(answer, b"content-encoding"))
    data = bytearray()
    for piece in answer.iter_stream():
        data += unpack.decompress(piece, most + 1 - len(data))
        if len(data) > most:
            return WebPage(target=target, kind=kind, charset=charset, data=bytes(data[:most]), whole=False)
    unpack.check_end()
    return WebPage(target=target, kind=kind, charset=charset, data=bytes(data), whole=True)


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


def _error_text(cause: Exception) -> str:
    text = str(cause) or type(cause).__name__
    return "".join(char if char.isprintable() else "?" for char in text[:200])
