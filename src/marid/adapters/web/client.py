"""The HTTP client of the web tools. Only these import it, since it loads the HTTP library."""

import contextlib
import re
from collections.abc import Generator, Sequence
from functools import cached_property
from ssl import SSLContext

import httpcore2
from httpcore2 import Response

from marid.adapters.web.address_policy import AddressPolicy
from marid.adapters.web.guarded_backend import GuardedBackend, NetworkFunctions, TransferBudget
from marid.core.errors import BadInput, Exhausted, NotFound, Refused, Unavailable
from marid.ports.web import PLAIN_PORTS, CrossHostRedirect, Target, WebPage
from marid.text.web.http_urls import join_url, parse_url
from marid.text.web.inflate import Decompressor

MAX_BYTES = 5 << 20
MAX_HEADER_BYTES = 1 << 20
MAX_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
GONE = (404, 410)
_TEXT_KINDS = re.compile(r"text/.+|application/(?:.*\+)?(?:json|xml)")
ENGINE = "https://html.duckduckgo.com/html/"
HEADERS = (
    ("User-Agent", "Mozilla/5.0 (compatible; marid)"),
    ("Accept", "text/html, application/xhtml+xml, text/*, application/json, application/xml;q=0.9"),
    ("Accept-Encoding", "gzip, deflate"),
    ("Accept-Language", "en, *;q=0.5"),
    ("Connection", "close"),
)


class WebClient:
    """Fetches from the public internet and the hosts in `allow`, without proxy, cookies, credentials or environment."""

    def __init__(
        self, *, allow: Sequence[str] = (), engine: str = ENGINE, network: NetworkFunctions | None = None
    ) -> None:
        self._allow = tuple(allow)
        self._engine = engine
        self._network = network or NetworkFunctions()

    @property
    def search_target(self) -> Target:
        """Raises: BadInput for a setting that is not a URL."""
        return parse_url(self._engine)

    @cached_property
    def _address_policy(self) -> AddressPolicy:
        return AddressPolicy(self._allow)

    def check_target(self, target: Target) -> None:
        self._address_policy.check_target(target)

    def fetch(
        self, target: Target, *, max_bytes: int = MAX_BYTES, timeout: float = 20.0
    ) -> WebPage | CrossHostRedirect:
        budget = TransferBudget(timeout=timeout, max_bytes=MAX_BYTES + MAX_HEADER_BYTES)
        at = target
        for _ in range(MAX_REDIRECTS + 1):
            self.check_target(at)
            with self._open_response(at, budget) as response:
                if response.status not in REDIRECTS:
                    return _read_page(at, response, min(max_bytes, MAX_BYTES))
                at = _redirect_target(at, response)
            if not _is_same_site(target, at):
                self.check_target(at)
                return CrossHostRedirect(target=at)
        raise Exhausted(f"'{target.authority}' redirects more than {MAX_REDIRECTS} times")

    @contextlib.contextmanager
    def _open_response(self, target: Target, budget: TransferBudget) -> Generator[Response]:
        backend = GuardedBackend(self._address_policy, budget, self._network)
        tls = self._ssl_context if target.scheme == "https" else None
        url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        try:
            with (
                httpcore2.ConnectionPool(network_backend=backend, ssl_context=tls, max_keepalive_connections=0) as pool,
                pool.stream("GET", url, headers=[("Host", target.authority), *HEADERS]) as response,
            ):
                yield response
        except httpcore2.TimeoutException as cause:
            raise budget.timeout_error() from cause
        except httpcore2.NetworkError as cause:
            raise Unavailable(f"the connection to '{target.authority}' failed: {_error_text(cause)}") from cause
        except httpcore2.ProtocolError as cause:
            raise Unavailable(f"'{target.authority}' sent an invalid response: {_error_text(cause)}") from cause

    @cached_property
    def _ssl_context(self) -> SSLContext:
        return self._network.ssl_context or httpcore2.default_ssl_context()


def _redirect_target(at: Target, response: Response) -> Target:
    try:
        return join_url(at, _header(response, b"location"))
    except BadInput as cause:
        raise Refused(f"'{at.authority}' redirects to what cannot be fetched: {cause}") from cause


def _is_same_site(one: Target, other: Target) -> bool:
    """Whether agreeing to one covers the other: they differ at most in `www.` and in http or https."""
    same_port = one.port == other.port or {one.port, other.port} <= set(PLAIN_PORTS.values())
    return same_port and one.host.removeprefix("www.") == other.host.removeprefix("www.")


def _read_page(target: Target, response: Response, max_bytes: int) -> WebPage:
    if response.status in GONE:
        raise NotFound(f"'{target.authority}' has no such page (status {response.status})")
    if not 200 <= response.status < 300:
        raise Unavailable(f"'{target.authority}' responds with status {response.status}")
    kind, *settings = (part.strip().lower() for part in _header(response, b"content-type").split(";"))
    charset = next((text[8:].strip(" \"'") for text in settings if text.startswith("charset=")), "")
    if not _TEXT_KINDS.fullmatch(kind):
        raise Refused(f"'{target.authority}' sends {kind or 'an unnamed kind of content'!a}: only text is fetched")
    unpack = Decompressor(_header(response, b"content-encoding"))
    data = bytearray()
    for chunk in response.iter_stream():
        data += unpack.decompress(chunk, max_bytes + 1 - len(data))
        if len(data) > max_bytes:
            return WebPage(target=target, kind=kind, charset=charset, data=bytes(data[:max_bytes]), whole=False)
    unpack.check_end()
    return WebPage(target=target, kind=kind, charset=charset, data=bytes(data), whole=True)


def _header(response: Response, name: bytes) -> str:
    """All values of a header, as one."""
    return ", ".join(value.decode("utf-8", "replace") for key, value in response.headers if key.lower() == name)


def _error_text(cause: Exception) -> str:
    text = str(cause) or type(cause).__name__
    return "".join(char if char.isprintable() else "?" for char in text[:200])
