"""The HTTP transport of every request: it sends our key and no other, validates events and logs."""

import json
import time
import zlib
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from ssl import SSLContext
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2

from marid.adapters.gateway.options import RetryPolicy, WireLog
from marid.adapters.gateway.providers import Provider
from marid.adapters.gateway.sse_validator import MAX_EVENT, SseValidator
from marid.core.model_io import Usage
from marid.text.json_values import as_objects, is_object, parse_json
from marid.text.secrets.masker import Redactor

# Encodings that are accepted, although requests ask for plain bodies.
CONTENT_ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
# Bytes of a list of models, and of an error.
MAX_BODY, MAX_ERROR_BODY = 32 << 20, 1 << 20
_MAX_CHUNK = 1 << 20
_ANY_HEADER = zlib.MAX_WBITS | 32
_PLAIN = "identity"
_LOCAL = ("localhost", "127.0.0.1", "::1")
# All other headers are removed. The providers' clients would take keys from the environment and send them to any
# address that they are given.
_ALLOWED_HEADERS = {
    *("host", "accept", "connection", "content-type", "content-length", "transfer-encoding"),
    *("x-server-timeout", "anthropic-version", "anthropic-beta"),
}
_KEY_HEADERS = MappingProxyType({"anthropic": "x-api-key", "google": "x-goog-api-key"})


class WrappedBody(httpx2.AsyncByteStream, ABC):
    """Another body, changed. An iterator and not a generator, so that closing it closes all of it at once."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner
        self._pieces = aiter(inner)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    @abstractmethod
    async def __anext__(self) -> bytes:
        """The next piece, which may be empty."""

    async def aclose(self) -> None:
        """Close the iterator of the connection too, or the event loop warns about it."""
        close = cast("Callable[[], Awaitable[None]] | None", getattr(self._pieces, "aclose", None))
        if close:
            await close()
        await self._inner.aclose()


class DecompressedBody(WrappedBody):
    """The plain bytes of a compressed body, in pieces of at most a megabyte."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        super().__init__(inner)
        self._decompressor = zlib.decompressobj(_ANY_HEADER)
        self._rest = b""

    async def __anext__(self) -> bytes:
        data = self._rest or await anext(self._pieces)
        if self._decompressor.eof:
            self._decompressor = zlib.decompressobj(_ANY_HEADER)
        try:
            piece = self._decompressor.decompress(data, _MAX_CHUNK)
        except zlib.error as cause:
            raise httpx2.DecodingError(f"the body cannot be decompressed: {cause}") from cause
        self._rest = self._decompressor.unconsumed_tail or self._decompressor.unused_data
        return piece


class BoundedBody(WrappedBody):
    """At most `max_bytes` in `timeout` seconds. More is cut off, or an error with `raise_on_excess`."""

    def __init__(self, inner: httpx2.AsyncByteStream, timeout: float, *, raise_on_excess: bool, max_bytes: int) -> None:
        super().__init__(inner)
        self._until = time.monotonic() + timeout
        self._left = max_bytes
        self._raise_on_excess = raise_on_excess

    async def __anext__(self) -> bytes:
        piece = await anext(self._pieces)
        self._left -= len(piece)
        if self._left >= 0 and time.monotonic() <= self._until:
            return piece
        if self._raise_on_excess:
            raise httpx2.ReadError("the body is too large")
        raise StopAsyncIteration


class JsonAsEventsBody(WrappedBody):
    """Events for an answer that came as one JSON object instead of a stream."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        super().__init__(inner)
        self._gathered = bytearray()
        self._is_passthrough = False

    async def __anext__(self) -> bytes:
        try:
            piece = await anext(self._pieces)
        except StopAsyncIteration:
            if not self._gathered:
                raise
            return json_to_events(self._take_gathered())
        if self._is_passthrough:
            return piece
        self._gathered += piece
        if len(self._gathered) > MAX_EVENT:
            raise httpx2.ReadError("the body is too large")
        self._is_passthrough = bytes(self._gathered[:64]).lstrip()[:1] not in (b"", b"{")
        return self._take_gathered() if self._is_passthrough else b""

    def _take_gathered(self) -> bytes:
        gathered, self._gathered = bytes(self._gathered), bytearray()
        return gathered


def json_to_events(body: bytes) -> bytes:
    """A JSON object as the only event of a stream; anything else stays as it is."""
    event = parse_json(body)
    if not is_object(event):
        return body
    choices = event.get("choices")
    for choice in as_objects(choices):
        message = choice.pop("message", None)
        if is_object(message):
            choice["delta"] = message
            for number, call in enumerate(as_objects(message.get("tool_calls"))):
                call["index"] = number
    if choices:
        event["object"] = "chat.completion.chunk"
    return b"data: %s\n\n%s" % (json.dumps(event).encode(), b"data: [DONE]\n\n" if choices else b"")


class ValidatedBody(WrappedBody):
    """The events of an answer that the validator passes on; a fault ends the body.

    Only events end a silence: comments that keep the connection alive do not extend `idle` seconds.
    """

    def __init__(self, inner: httpx2.AsyncByteStream, validator: SseValidator, idle: float) -> None:
        super().__init__(inner)
        self._validator = validator
        self._idle = idle
        self._ended = False

    async def __anext__(self) -> bytes:
        waiting_since = 0.0
        validator = self._validator
        while not self._ended:
            try:
                passed = validator.feed(await anext(self._pieces))
                self._ended = bool(validator.fault)
            except StopAsyncIteration:
                self._ended, passed = True, b""
            if self._ended:
                passed += validator.finish()
            if passed:
                return passed
            waiting_since = waiting_since or time.monotonic()
            if time.monotonic() - waiting_since > self._idle:
                raise httpx2.ReadTimeout(f"no event in {self._idle:g} s")
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self._ended = True
        await super().aclose()


class ProviderTransport(httpx2.AsyncBaseTransport):
    """The transport of one request, with its own connection."""

    def __init__(
        self,
        provider: Provider,
        retry_policy: RetryPolicy,
        wire_log: WireLog | None = None,
        *,
        inner: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._provider = provider
        self._retry_policy = retry_policy
        self._inner = inner or open_transport(provider)
        self._wire_log = wire_log
        self.validator = SseValidator()
        self._body: ValidatedBody | None = None
        self._response_record: dict[str, Any] | None = None
        self.request_body = b""
        self.was_sent = False  # the request went out and was not refused, so that it may have cost something
        self.is_redirected = False  # a redirect is not followed: the request holds a key
        self.content_type, self.content_encoding = "", _PLAIN  # of the answer

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request with our key, and validate the body of the answer."""
        self._set_headers(request)
        self.request_body = await request.aread()
        self._log_request(request)
        begun = time.monotonic()
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            self.was_sent = self.was_sent and isinstance(error, httpx2.TimeoutException)
            raise
        self.was_sent = response.is_success
        if self._wire_log:
            headers = Redactor(*self._provider.secrets).redact_headers(response.headers)
            seconds = round(time.monotonic() - begun, 3)
            self._response_record = {"status": response.status_code, "seconds": seconds, "headers": headers}
        self._wrap_body(request, response)
        return response

    def _wrap_body(self, request: httpx2.Request, response: httpx2.Response) -> None:
        """Wrap the body by its kind: GET is for lists of models, POST for answers."""
        body = cast("httpx2.AsyncByteStream", response.stream)
        self.is_redirected = response.is_redirect
        self.content_encoding = response.headers.pop("content-encoding", _PLAIN).strip().lower() or _PLAIN
        if self.content_encoding in CONTENT_ENCODINGS:
            body = DecompressedBody(body)
        elif not self.is_readable:
            body = httpx2.ByteStream(b"")
        idle = self._retry_policy.idle_timeout
        if request.method != "POST" or not response.is_success:
            limit = MAX_BODY if response.is_success else MAX_ERROR_BODY
            response.stream = BoundedBody(body, idle, raise_on_excess=response.is_success, max_bytes=limit)
            return
        self.content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.content_type == "application/json" and self._provider.dialect != "anthropic":
            body = JsonAsEventsBody(body)
        response.stream = self._body = ValidatedBody(body, self.validator, idle)

    @property
    def is_readable(self) -> bool:
        """Whether the answer is plain or has a known encoding."""
        return self.content_encoding == _PLAIN or self.content_encoding in CONTENT_ENCODINGS

    @property
    def has_validated_body(self) -> bool:
        """Whether there is an answer to validate."""
        return self._body is not None

    async def aclose(self) -> None:
        """Close every connection."""
        if self._body:
            await self._body.aclose()
        await self._inner.aclose()

    def _set_headers(self, request: httpx2.Request) -> None:
        for name in request.headers.keys() - _ALLOWED_HEADERS:
            del request.headers[name]
        request.headers |= {"user-agent": "marid", "accept-encoding": _PLAIN}
        connect = self._retry_policy.connect_timeout
        # Our timeouts replace those of the provider's client.
        timeout = httpx2.Timeout(self._retry_policy.idle_timeout, connect=connect, pool=connect).as_dict()
        request.extensions = {**request.extensions, "timeout": timeout, "trace": self._trace}
        if self._provider.login:
            request.headers["authorization"] = f"Basic {b64encode(self._provider.login.encode()).decode()}"
        if key := self._provider.api_key:
            name = _KEY_HEADERS.get(self._provider.dialect)
            request.headers[name or "authorization"] = key if name else f"Bearer {key}"

    async def _trace(self, name: str, _: object) -> None:
        """Called at every step of the connection."""
        self.was_sent = self.was_sent or name.endswith("send_request_body.complete")

    def _log_request(self, request: httpx2.Request) -> None:
        if not self._wire_log:
            return
        redactor = Redactor(*self._provider.secrets)
        record = {
            "timestamp": int(time.time()),
            "request": redactor.redact_body(self.request_body),
            "provider": self._provider.id,
            "method": request.method,
            "url": redactor.redact_text(str(request.url)),
            "headers": redactor.redact_headers(request.headers),
        }
        self._wire_log("request", record)

    def log_response(self, usage: Usage | None) -> None:
        """Log the answer, if there was one, with what it cost. Raises: Unavailable when the log cannot be written."""
        response, self._response_record = self._response_record, None
        if self._wire_log and response is not None:
            if usage:  # named as in OpenAI's API, which most programs know
                tokens = {"prompt_tokens": usage.input, "completion_tokens": usage.output}
                response = {"usage": {**tokens, "total_tokens": usage.input + usage.output}, **response}
            record = {"timestamp": int(time.time()), "response": response, "provider": self._provider.id}
            self._wire_log("response", record)


def open_transport(provider: Provider) -> httpx2.AsyncBaseTransport:
    """A transport to the provider, through its proxy if it has one; this machine is never reached by a proxy."""
    parts = urlsplit(provider.base_url)
    proxy = None if parts.hostname in _LOCAL else provider.proxy or None
    # Reading the certificates takes longer than some answers, so they are read only for https.
    trust = _ssl_context() if parts.scheme == "https" else False
    # A request on a reused connection is lost if the server is just closing it.
    once = httpx2.Limits(max_keepalive_connections=0)
    return httpx2.AsyncHTTPTransport(verify=trust, proxy=proxy, limits=once)


@cache
def _ssl_context() -> SSLContext:
    return httpx2.create_ssl_context()
