"""The bodies of answers: unpacked, with bounds, and as events. Imported when a model is asked."""

import json
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

import httpx2

from marid.adapters.gateway.sse_validator import MAX_EVENT, SseValidator

CONTENT_ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
"""How a body may be packed, although we ask for plain ones."""

MAX_BODY, MAX_ERROR_BODY = 32 << 20, 1 << 20
"""Bytes of a list of models, and of an error, of which nobody reads more."""

_MAX_CHUNK = 1 << 20
_ANY_HEADER = zlib.MAX_WBITS | 32


class WrappedBody(httpx2.AsyncByteStream, ABC):
    """Another body, changed. An iterator, no generator, so that closing it closes all of it at once."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner
        self._pieces = aiter(inner)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    @abstractmethod
    async def __anext__(self) -> bytes:
        """The next piece; an empty one means that there is none yet."""

    async def aclose(self) -> None:
        """Close the connection's own iterator too: left to the end of the loop, it complains."""
        close = cast("Callable[[], Awaitable[None]] | None", getattr(self._pieces, "aclose", None))
        if close:
            await close()
        await self._inner.aclose()


class DecompressedBody(WrappedBody):
    """A packed body's plain bytes, in pieces of at most a megabyte, however much is packed into one."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        super().__init__(inner)
        self._unpacker = zlib.decompressobj(_ANY_HEADER)
        self._rest = b""

    async def __anext__(self) -> bytes:
        packed = self._rest or await anext(self._pieces)
        if self._unpacker.eof:
            self._unpacker = zlib.decompressobj(_ANY_HEADER)
        try:
            piece = self._unpacker.decompress(packed, _MAX_CHUNK)
        except zlib.error as cause:
            raise httpx2.DecodingError(f"what is packed cannot be unpacked: {cause}") from cause
        self._rest = self._unpacker.unconsumed_tail or self._unpacker.unused_data
        return piece


class BoundedBody(WrappedBody):
    """At most so many bytes in so many seconds. What is more is an error where it `counts`, and else left out."""

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
            raise httpx2.ReadError("what it sends has no end")
        raise StopAsyncIteration


class JsonAsEventsBody(WrappedBody):
    """An answer that came as one JSON object although a stream was asked for, as the events of a stream."""

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
            raise httpx2.ReadError("what it sends has no end")
        start = bytes(self._gathered[:64]).lstrip()[:1]
        self._is_passthrough = bool(start) and start != b"{"
        return self._take_gathered() if self._is_passthrough else b""

    def _take_gathered(self) -> bytes:
        gathered, self._gathered = bytes(self._gathered), bytearray()
        return gathered


def json_to_events(body: bytes) -> bytes:
    """One JSON object as the only event of a stream; what is none stays as it is."""
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(found, dict):
        return body
    event = cast("dict[str, Any]", found)
    choices = event.get("choices")
    for choice in cast("list[object]", choices) if isinstance(choices, list) else []:
        if isinstance(choice, dict):
            _message_to_delta(cast("dict[str, Any]", choice))
    if choices:
        event["object"] = "chat.completion.chunk"
    return b"data: %s\n\n%s" % (json.dumps(event).encode(), b"data: [DONE]\n\n" if choices else b"")


def _message_to_delta(choice: dict[str, Any]) -> None:
    """A whole message is all that a stream would bring, its calls one after another."""
    message: object = choice.pop("message", None)
    if not isinstance(message, dict):
        return
    choice["delta"] = delta = cast("dict[str, Any]", message)
    calls: object = delta.get("tool_calls")
    for number, call in enumerate(cast("list[object]", calls) if isinstance(calls, list) else []):
        if isinstance(call, dict):
            cast("dict[str, Any]", call)["index"] = number


class ValidatedBody(WrappedBody):
    """The body of an answer through a sieve.

    Bytes that are no event, such as comments that keep a connection alive, do not count against silence: who waits
    for an event waits `idle` seconds and no longer. Where the sieve finds a fault, the body ends.
    """

    def __init__(self, inner: httpx2.AsyncByteStream, validator: SseValidator, idle: float) -> None:
        super().__init__(inner)
        self._validator = validator
        self._idle = idle
        self._ended = False

    async def __anext__(self) -> bytes:
        asked = 0.0
        sieve = self._validator
        while not self._ended:
            try:
                passed = sieve.feed(await anext(self._pieces))
                if sieve.fault:
                    self._ended = True
                    passed += sieve.finish()
            except StopAsyncIteration:
                self._ended = True
                passed = sieve.finish()
            if passed:
                return passed
            asked = asked or time.monotonic()
            if time.monotonic() - asked > self._idle:
                raise httpx2.ReadTimeout(f"no event in {self._idle:g} s")
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """It gives no more."""
        self._ended = True
        await super().aclose()
