"""Response bodies."""

import gzip
import json
import zlib
from collections.abc import AsyncIterator

import anyio
import httpx2
import pytest

from fakes.bodies import Body, Endless
from marid.adapters.gateway.response_bodies import (
    BoundedBody,
    DecompressedBody,
    JsonAsEventsBody,
    ValidatedBody,
    json_to_events,
)
from marid.adapters.gateway.sse_validator import SseValidator

EVENT = b'data: {"a": 1}\n\n'


def read(body: httpx2.AsyncByteStream) -> bytes:
    async def main() -> bytes:
        return b"".join([piece async for piece in body])

    return anyio.run(main)


@pytest.mark.parametrize("packed", [gzip.compress(EVENT, mtime=0), zlib.compress(EVENT)], ids=["gzip", "deflate"])
def test_a_body_is_decompressed_wherever_it_is_cut(packed: bytes) -> None:
    for at in range(len(packed) + 1):
        assert read(DecompressedBody(Body(packed[:at], packed[at:]))) == EVENT
    assert read(DecompressedBody(Body(packed + packed))) == EVENT * 2


def test_a_cut_compressed_body_gives_its_beginning() -> None:
    events = EVENT + b'data: {"b": "%s"}\n\n' % bytes(range(97, 123)) * 50
    half = read(DecompressedBody(Body(gzip.compress(events)[:-20])))
    assert events.startswith(half)


def test_a_body_that_cannot_be_decompressed_is_an_error() -> None:
    with pytest.raises(httpx2.DecodingError, match="cannot be decompressed"):
        read(DecompressedBody(Body(b"never packed at all")))


def test_a_decompressed_body_comes_in_small_pieces() -> None:
    async def main() -> set[int]:
        return {len(piece) async for piece in DecompressedBody(Body(gzip.compress(bytes(20 << 20))))}

    assert max(anyio.run(main)) <= 1 << 20


def test_a_body_without_end_is_cut_or_an_error() -> None:
    assert len(read(BoundedBody(Endless(), 60, raise_on_excess=False, max_bytes=5 << 20))) == 5 << 20
    with pytest.raises(httpx2.ReadError, match="too large"):
        read(BoundedBody(Endless(), 60, raise_on_excess=True, max_bytes=5 << 20))
    with pytest.raises(httpx2.ReadError, match="too large"):
        read(BoundedBody(Endless(), -1, raise_on_excess=True, max_bytes=5 << 20))
    assert read(BoundedBody(Body(b"a", b"b"), 60, raise_on_excess=True, max_bytes=2)) == b"ab"


def test_a_whole_answer_becomes_events() -> None:
    message = {"role": "assistant", "content": "Hi"}
    whole = {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}, 7]}
    first, end, rest = json_to_events(json.dumps(whole, indent=2).encode()).split(b"\n\n")
    assert json.loads(first[6:])["choices"][0] == {"index": 0, "delta": message, "finish_reason": "stop"}
    assert (end, rest) == (b"data: [DONE]", b"")


def test_one_object_is_one_event_and_what_is_none_stays_as_it_is() -> None:
    assert json_to_events(b'{"error": "no"}') == b'data: {"error": "no"}\n\n'
    for other in (b"[1]", b"<html>", b'{"a"', b"[" * 200_000):
        assert json_to_events(other) == other


def test_an_object_is_gathered_and_events_pass_as_they_come() -> None:
    assert read(JsonAsEventsBody(Body(b" \n", b'{"a"', b": 1}"))) == EVENT
    assert read(JsonAsEventsBody(Body(b"data: ", b'{"a": 1}\n\n'))) == EVENT
    assert read(JsonAsEventsBody(Body())) == b""


def test_an_object_without_end_is_given_up() -> None:
    class Opened(Endless):
        async def __anext__(self) -> bytes:
            return b"{" + await super().__anext__()

    with pytest.raises(httpx2.ReadError, match="too large"):
        read(JsonAsEventsBody(Opened()))


def test_a_damaged_event_ends_the_body() -> None:
    validator = SseValidator()
    assert read(ValidatedBody(Body(EVENT, EVENT + b"data: {\n\n", EVENT), validator, 60)) == EVENT * 2
    assert validator.fault


def test_a_body_that_is_closed_gives_no_more() -> None:
    async def main() -> None:
        async def pieces() -> AsyncIterator[bytes]:
            yield b'data: {"a": 1}\n\n'
            yield b'data: {"b": 2}\n\n'

        class Generated(Body):
            def __aiter__(self) -> AsyncIterator[bytes]:
                return pieces()

        body = ValidatedBody(Generated(), SseValidator(), 60)
        assert await anext(aiter(body)) == b'data: {"a": 1}\n\n'
        await body.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(body)

    anyio.run(main)


def test_comments_do_not_end_a_silence() -> None:
    async def main() -> None:
        with pytest.raises(httpx2.ReadTimeout, match="no event in 0 s"):
            await anext(ValidatedBody(Body(b": ping\n\n", b": ping\n\n", b": ping\n\n"), SseValidator(), 0))

    anyio.run(main)
