"""The transport: whose key it sends, and what it makes of the bodies of answers."""

import gzip
import json
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import anyio
import httpx2
import pytest

from marid.adapters.gateway.options import RecordKind, RetryPolicy
from marid.adapters.gateway.providers import Dialect, Provider
from marid.adapters.gateway.sse_validator import SseValidator
from marid.adapters.gateway.transport import (
    MAX_ERROR_BODY,
    BoundedBody,
    DecompressedBody,
    JsonAsEventsBody,
    ProviderTransport,
    ValidatedBody,
    json_to_events,
    open_transport,
)
from marid.core.model_io import Usage

KEY = "sk-canary-0123456789"


class Body(httpx2.AsyncByteStream):
    """Yields the pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)
        self.closed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._pieces:
            raise StopAsyncIteration
        return self._pieces.pop(0)

    async def aclose(self) -> None:
        self.closed = True


class Endless(Body):
    """Never ends."""

    async def __anext__(self) -> bytes:
        return b"x" * (1 << 20)


class Fixed(httpx2.AsyncBaseTransport):
    """Answers everything alike and keeps what was asked."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.asked: list[httpx2.Request] = []
        self.closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        return self._response

    async def aclose(self) -> None:
        self.closed = True


def provider(dialect: Dialect = "openai", key: str = KEY) -> Provider:
    return Provider(id=dialect, dialect=dialect, base_url="http://127.0.0.1:9/v1", api_key=key)


def transport(response: httpx2.Response) -> ProviderTransport:
    return ProviderTransport(provider(), RetryPolicy(), inner=Fixed(response))


def sent(wire: ProviderTransport, *, method: str = "POST", headers: Mapping[str, str] | None = None) -> bytes:
    async def main() -> bytes:
        async with httpx2.AsyncClient(transport=wire) as client:
            answer = await client.request(method, "http://127.0.0.1:9/v1/x", json={"key": KEY}, headers=headers)
            return answer.content

    return anyio.run(main)


@pytest.mark.parametrize(
    ("dialect", "header", "value"),
    [
        ("openai", "authorization", f"Bearer {KEY}"),
        ("openrouter", "authorization", f"Bearer {KEY}"),
        ("anthropic", "x-api-key", KEY),
        ("google", "x-goog-api-key", KEY),
    ],
)
def test_our_key_is_sent_and_no_other(dialect: Dialect, header: str, value: str) -> None:
    foreign = dict.fromkeys(["Authorization", "x-api-key", "OpenAI-Organization", "X-Mine", "User-Agent"], "stolen")
    inner = Fixed(httpx2.Response(200, stream=Body()))
    sent(ProviderTransport(provider(dialect), RetryPolicy(), inner=inner), headers=foreign)
    headers = inner.asked[0].headers
    assert headers[header] == value
    assert "stolen" not in str(dict(headers))
    assert inner.closed


def test_only_needed_headers_are_sent() -> None:
    inner = Fixed(httpx2.Response(200, stream=Body()))
    needed = {"anthropic-version": "1", "anthropic-beta": "b"}
    sent(ProviderTransport(provider("anthropic"), RetryPolicy(), inner=inner), headers={**needed, "X-Mine": "?"})
    names = {"host", "accept", "connection", "content-type", "content-length", "user-agent", "accept-encoding"}
    assert set(inner.asked[0].headers) == {*names, *needed, "x-api-key"}


def test_a_login_is_sent_beside_a_key_in_another_header() -> None:
    inner = Fixed(httpx2.Response(200, stream=Body()))
    records: list[tuple[RecordKind, Mapping[str, Any]]] = []
    place = replace(provider("anthropic"), login="me:secret-word")
    sent(ProviderTransport(place, RetryPolicy(), lambda kind, record: records.append((kind, record)), inner=inner))
    headers = inner.asked[0].headers
    assert (headers["authorization"], headers["x-api-key"]) == ("Basic bWU6c2VjcmV0LXdvcmQ=", KEY)
    assert "bWU6c2VjcmV0LXdvcmQ" not in str(records)


def test_our_timeouts_replace_those_of_the_client() -> None:
    inner = Fixed(httpx2.Response(200, stream=Body()))
    sent(ProviderTransport(provider(), RetryPolicy(connect_timeout=3, idle_timeout=7), inner=inner))
    assert inner.asked[0].extensions["timeout"] == {"connect": 3, "read": 7, "write": 7, "pool": 3}


def test_without_a_key_none_is_sent() -> None:
    inner = Fixed(httpx2.Response(200, stream=Body()))
    sent(ProviderTransport(provider(key=""), RetryPolicy(), inner=inner), headers={"Authorization": "Bearer stolen"})
    assert "authorization" not in inner.asked[0].headers


def test_an_answer_is_validated_and_closed() -> None:
    body = Body(b'data: {"a": 1}\n', b"\ndata: brok", b'en\n\ndata: {"b": 2}\n\n')
    wire = transport(httpx2.Response(200, stream=body))
    assert sent(wire) == b'data: {"a": 1}\n\n'
    assert wire.has_validated_body
    assert wire.validator.fault
    assert body.closed


def test_lists_and_errors_are_left_alone() -> None:
    for method, status in (("GET", 200), ("POST", 500)):
        wire = transport(httpx2.Response(status, stream=Body(b"[1]")))
        assert sent(wire, method=method) == b"[1]"
        assert not wire.has_validated_body


def test_compressed_bodies_of_all_kinds_are_decompressed() -> None:
    event = b'data: {"a": 1}\n\n'
    packed = {"content-encoding": "GZIP"}
    for method, status in (("POST", 200), ("POST", 500), ("GET", 200)):
        body = Body(gzip.compress(event)[:12], gzip.compress(event)[12:])
        wire = transport(httpx2.Response(status, headers=packed, stream=body))
        assert sent(wire, method=method) == event
        assert wire.is_readable
        assert body.closed


def test_an_error_without_end_is_read_in_part() -> None:
    assert 0 < len(sent(transport(httpx2.Response(500, stream=Endless())))) <= MAX_ERROR_BODY


def test_requests_and_responses_are_logged_without_keys() -> None:
    records: list[tuple[RecordKind, Mapping[str, Any]]] = []
    wire = ProviderTransport(
        provider(),
        RetryPolicy(),
        lambda kind, record: records.append((kind, record)),
        inner=Fixed(httpx2.Response(200, headers={"set-cookie": KEY}, stream=Body())),
    )
    sent(wire)
    wire.log_response(Usage(input=3, output=2))
    wire.log_response(Usage(input=3, output=2))
    (kind, request), (other, response) = records
    assert (kind, other) == ("request", "response")
    assert request["request"] == {"key": "[masked]"}
    assert request["headers"]["authorization"] == "[masked]"
    assert response["response"]["status"] == 200
    assert response["response"]["usage"] == {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    assert isinstance(request["timestamp"], int)
    assert isinstance(response["timestamp"], int)
    assert KEY not in str(records)


class Failing(httpx2.AsyncBaseTransport):
    """Fails after a request has gone out, or before."""

    def __init__(self, error: Exception, *, sent: bool = True) -> None:
        self._error = error
        self._sent = sent

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._sent:
            await request.extensions["trace"]("http11.send_request_body.complete", {})
        raise self._error


@pytest.mark.parametrize(
    ("inner", "asked"),
    [
        (Fixed(httpx2.Response(200)), True),
        (Fixed(httpx2.Response(500)), False),
        (Failing(httpx2.ReadTimeout("silent")), True),
        (Failing(httpx2.ConnectTimeout("silent"), sent=False), False),
        (Failing(httpx2.RemoteProtocolError("gone")), False),
        (Failing(httpx2.ConnectError("refused"), sent=False), False),
        (Failing(RuntimeError("cancelled")), True),
    ],
)
def test_it_knows_whether_a_request_may_have_cost_something(inner: httpx2.AsyncBaseTransport, asked: bool) -> None:
    wire = ProviderTransport(provider(), RetryPolicy(), inner=inner)

    async def main() -> None:
        async with httpx2.AsyncClient(transport=wire) as client:
            with suppress(httpx2.TransportError, RuntimeError):
                await client.post("http://127.0.0.1:9/v1", content=b"{}")

    anyio.run(main)
    assert wire.was_sent is asked


def test_every_kind_of_address_has_a_transport() -> None:
    for url, proxy in (("http://localhost:1/v1", "http://p:1"), ("https://h/v1", "http://p:1"), ("http://h/v1", "")):
        service = Provider(id="x", dialect="openai", base_url=url, proxy=proxy)
        assert isinstance(open_transport(service), httpx2.AsyncHTTPTransport)


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
