"""The HTTP side of every request: our key and no other, events that were made whole, and the log."""

import time
from base64 import b64encode
from functools import cache
from ssl import SSLContext
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2

from marid.adapters.gateway.bodies import (
    MOST_BODY,
    MOST_COMPLAINT,
    PACKINGS,
    Bounded,
    Completed,
    Sifted,
    Unpacked,
)
from marid.adapters.gateway.journal import Journal
from marid.adapters.gateway.patience import Patience
from marid.adapters.gateway.providers import Provider
from marid.adapters.gateway.sse import Sieve
from marid.core.chat import Usage
from marid.text.veil import Veil

_PLAIN = "identity"
_LOCAL = ("localhost", "127.0.0.1", "::1")
# All that is sent besides our key. The providers' clients would take others from the environment, and send them to
# whatever address they are given.
_NEEDED = (
    "host",
    "accept",
    "connection",
    "content-type",
    "content-length",
    "transfer-encoding",
    "x-server-timeout",
    "anthropic-version",
    "anthropic-beta",
)
_NAME = "marid"
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
        self._answer: dict[str, Any] | None = None
        self.sent = b""
        """The body of the request."""
        self.asked = False
        """Whether the request went out and nobody said no to it: it may have cost something."""
        self.redirected = False
        """Whether the answer is that the request should go elsewhere: it holds a key, and goes nowhere else."""
        self.kind, self.packing = "", _PLAIN
        """What sort of answer it is, and how it was packed."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it with our key, and give its answer through the sieve."""
        self._sign(request)
        self.sent = await request.aread()
        if self._journal:
            self._note_request(self._journal, request)
        begun = time.monotonic()
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            self.asked = self.asked and isinstance(error, httpx2.TimeoutException)
            raise
        self.asked = response.is_success
        if self._journal:
            self._keep_answer(response, time.monotonic() - begun)
        self._dress(request, response)
        return response

    def _dress(self, request: httpx2.Request, response: httpx2.Response) -> None:
        """Put the body into what it needs. Lists of models are got; answers are posted for."""
        body = cast("httpx2.AsyncByteStream", response.stream)
        self.redirected = response.is_redirect
        self.packing = response.headers.pop("content-encoding", _PLAIN).strip().lower() or _PLAIN
        if self.packing in PACKINGS:
            body = Unpacked(body)
        elif not self.readable:
            body = httpx2.ByteStream(b"")
        idle = self._patience.idle
        if request.method != "POST" or not response.is_success:
            most = MOST_BODY if response.is_success else MOST_COMPLAINT
            response.stream = Bounded(body, idle, counts=response.is_success, most=most)
            return
        self.kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.kind == "application/json" and self._provider.dialect != "anthropic":
            body = Completed(body)
        response.stream = self._body = Sifted(body, self.sieve, idle)

    @property
    def readable(self) -> bool:
        """Whether the answer was plain, or packed in a way that we know."""
        return self.packing == _PLAIN or self.packing in PACKINGS

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
        for name in request.headers.keys() - set(_NEEDED):
            del request.headers[name]
        request.headers |= {"user-agent": _NAME, "accept-encoding": _PLAIN}
        request.extensions = {**request.extensions, "timeout": _timeouts(self._patience), "trace": self._trace}
        if self._provider.login:
            request.headers["authorization"] = f"Basic {b64encode(self._provider.login.encode()).decode()}"
        if self._provider.api_key:
            name, before = _KEY_HEADERS[self._provider.dialect]
            request.headers[name] = before + self._provider.api_key

    async def _trace(self, name: str, more: object) -> None:
        """What the connection does, step by step."""
        del more
        self.asked = self.asked or name.endswith("send_request_body.complete")

    def _note_request(self, journal: Journal, request: httpx2.Request) -> None:
        veil = Veil(*self._provider.secrets)
        record = {
            "timestamp": int(time.time()),
            "request": veil.body(self.sent),
            "provider": self._provider.id,
            "method": request.method,
            "url": veil.text(str(request.url)),
            "headers": veil.headers(request.headers),
        }
        journal.note("request", record)

    def _keep_answer(self, response: httpx2.Response, seconds: float) -> None:
        self._answer = {
            "status": response.status_code,
            "seconds": round(seconds, 3),
            "headers": Veil(*self._provider.secrets).headers(response.headers),
        }

    def note_answer(self, usage: Usage | None) -> None:
        """Log the answer, if there was one, with what it cost. Raises: Unavailable when the log cannot be written."""
        answer, self._answer = self._answer, None
        if self._journal and answer is not None:
            costs = {"usage": _figures(usage)} if usage else {}
            record = {"timestamp": int(time.time()), "response": {**costs, **answer}, "provider": self._provider.id}
            self._journal.note("response", record)


def _figures(usage: Usage) -> dict[str, int]:
    """In the words that most programs know."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    }


def transport(provider: Provider) -> httpx2.AsyncBaseTransport:
    """The way to the provider, through its proxy if it has one; this machine itself is never behind a proxy."""
    parts = urlsplit(provider.base_url)
    proxy = None if parts.hostname in _LOCAL else provider.proxy or None
    # No certificates are read where none are needed: that takes longer than many an answer.
    trust = _trust() if parts.scheme == "https" else False
    # A connection that is used again may be closing at that moment, and then the request on it is lost.
    once = httpx2.Limits(max_keepalive_connections=0)
    return httpx2.AsyncHTTPTransport(verify=trust, proxy=proxy, limits=once)


@cache
def _trust() -> SSLContext:
    """The machine's certificates, read once."""
    return httpx2.create_ssl_context()


def _timeouts(patience: Patience) -> dict[str, float | None]:
    """Ours, whatever the provider's client would wait."""
    return httpx2.Timeout(patience.idle, connect=patience.connect, pool=patience.connect).as_dict()
