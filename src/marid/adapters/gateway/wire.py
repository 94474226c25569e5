"""The HTTP side of every request: our key and no other, events that were made whole, and the log."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from ssl import SSLContext
from types import MappingProxyType
from typing import cast
from urllib.parse import urlsplit

import httpx2

from marid.adapters.gateway.journal import Journal
from marid.adapters.gateway.masking import Veil
from marid.adapters.gateway.patience import Patience
from marid.adapters.gateway.providers import Provider
from marid.adapters.gateway.sse import Sieve

_LOCAL = ("localhost", "127.0.0.1", "::1")
# What the providers' clients would take from the environment and send to whatever address they are given.
_FOREIGN = ("authorization", "x-api-key", "x-goog-api-key", "openai-organization", "openai-project", "cookie")
_KEY_HEADERS = MappingProxyType(
    {
        "openai": ("authorization", "Bearer "),
        "openrouter": ("authorization", "Bearer "),
        "anthropic": ("x-api-key", ""),
        "google": ("x-goog-api-key", ""),
    }
)


class Wire(httpx2.AsyncBaseTransport):
    """One request's transport, with its own connection; its answer went through `sieve`, if `sifted` is true."""

    def __init__(
        self,
        provider: Provider,
        patience: Patience,
        journal: Journal | None = None,
        *,
        inner: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._provider = provider
        self._patience = patience
        self._inner = inner or transport(provider)
        self._journal = journal
        self.sieve = Sieve()
        self._body: Sifted | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it with our key, and give its answer through the sieve."""
        self._sign(request)
        if self._journal:
            await self._note_request(self._journal, request)
        begun = time.monotonic()
        response = await self._inner.handle_async_request(request)
        if self._journal:
            self._note_response(self._journal, response, time.monotonic() - begun)
        # Lists of models are got; answers are posted for.
        if request.method == "POST" and response.status_code == 200 and _is_plain(response):
            body = cast("httpx2.AsyncByteStream", response.stream)
            response.stream = self._body = Sifted(body, self.sieve, self._patience.idle)
        return response

    @property
    def sifted(self) -> bool:
        """Whether there was an answer that the sieve could look into."""
        return self._body is not None

    async def aclose(self) -> None:
        """Close every connection."""
        if self._body:
            await self._body.aclose()
        await self._inner.aclose()

    def _sign(self, request: httpx2.Request) -> None:
        for name in _FOREIGN:
            request.headers.pop(name, None)
        request.headers["accept-encoding"] = "identity"
        request.extensions = {**request.extensions, "timeout": _timeouts(self._patience)}
        if self._provider.api_key:
            name, before = _KEY_HEADERS[self._provider.dialect]
            request.headers[name] = before + self._provider.api_key

    async def _note_request(self, journal: Journal, request: httpx2.Request) -> None:
        veil = Veil(self._provider.api_key)
        record = {
            "time": int(time.time() * 1000),
            "provider": self._provider.id,
            "method": request.method,
            "url": veil.text(str(request.url)),
            "headers": veil.headers(request.headers),
            "body": veil.body(await request.aread()),
        }
        journal.note("request", record)

    def _note_response(self, journal: Journal, response: httpx2.Response, seconds: float) -> None:
        record = {
            "time": int(time.time() * 1000),
            "provider": self._provider.id,
            "status": response.status_code,
            "seconds": round(seconds, 3),
            "headers": Veil(self._provider.api_key).headers(response.headers),
        }
        journal.note("response", record)


class Sifted(httpx2.AsyncByteStream):
    """The body of an answer through a sieve. An iterator, no generator, so that closing it closes all of it at once.

    Bytes that are no event, such as comments that keep a connection alive, do not count against silence: who waits
    for an event waits `idle` seconds and no longer.
    """

    def __init__(self, inner: httpx2.AsyncByteStream, sieve: Sieve, idle: float) -> None:
        self._inner = inner
        self._pieces = aiter(inner)
        self._sieve = sieve
        self._idle = idle
        self._ended = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        asked = 0.0
        while not self._ended:
            try:
                passed = self._sieve.feed(await anext(self._pieces))
            except StopAsyncIteration:
                self._ended = True
                passed = self._sieve.finish()
            if passed:
                return passed
            asked = asked or time.monotonic()
            if time.monotonic() - asked > self._idle:
                raise httpx2.ReadTimeout(f"no event in {self._idle:g} s")
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Close the connection's own iterator too: left to the end of the loop, it complains."""
        self._ended = True
        close = cast("Callable[[], Awaitable[None]] | None", getattr(self._pieces, "aclose", None))
        if close:
            await close()
        await self._inner.aclose()


def _is_plain(response: httpx2.Response) -> bool:
    """Whether the bytes are the text itself; what was packed although we asked for plain is left alone."""
    return response.headers.get("content-encoding", "identity") == "identity"


def transport(provider: Provider) -> httpx2.AsyncBaseTransport:
    """The way to the provider, through its proxy if it has one; this machine itself is never behind a proxy."""
    parts = urlsplit(provider.base_url)
    proxy = None if parts.hostname in _LOCAL else provider.proxy or None
    # No certificates are read where none are needed: that takes longer than many an answer.
    return httpx2.AsyncHTTPTransport(verify=_trust() if parts.scheme == "https" else False, proxy=proxy)


@cache
def _trust() -> SSLContext:
    """The machine's certificates, read once."""
    return httpx2.create_ssl_context()


def _timeouts(patience: Patience) -> dict[str, float | None]:
    """Ours, whatever the provider's client would wait."""
    return httpx2.Timeout(patience.idle, connect=patience.connect, pool=patience.connect).as_dict()
