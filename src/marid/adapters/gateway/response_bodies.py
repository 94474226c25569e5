"""Wrappers that decompress, bound and validate response bodies. Imports the HTTP library."""

import json
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import cast

import httpx2

from marid.adapters.gateway.sse_validator import MAX_EVENT, SseValidator
from marid.text.json_values import as_objects, is_object, parse_json

CONTENT_ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
"""Encodings that are accepted, although requests ask for plain bodies."""

MAX_BODY, MAX_ERROR_BODY = 32 << 20, 1 << 20
"""Bytes of a list of models, and of an error."""

_MAX_CHUNK = 1 << 20
_ANY_HEADER = zlib.MAX_WBITS | 32


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
        start = bytes(self._gathered[:64]).lstrip()[:1]
        self._is_passthrough = bool(start) and start != b"{"
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
                if validator.fault:
                    self._ended = True
                    passed += validator.finish()
            except StopAsyncIteration:
                self._ended = True
                passed = validator.finish()
            if passed:
                return passed
            waiting_since = waiting_since or time.monotonic()
            if time.monotonic() - waiting_since > self._idle:
                raise httpx2.ReadTimeout(f"no event in {self._idle:g} s")
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self._ended = True
        await super().aclose()
