"""The HTTP side of a request."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
import httpx2
import pytest

from marid.adapters.gateway.journal import Kind
from marid.adapters.gateway.patience import Patience
from marid.adapters.gateway.providers import Dialect, Provider
from marid.adapters.gateway.sse import Sieve
from marid.adapters.gateway.wire import Sifted, Wire, transport

KEY = "sk-canary-0123456789"


class Body(httpx2.AsyncByteStream):
    """Pieces, one after the other, by a plain iterator."""

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


class Notes:
    """A journal in memory."""

    def __init__(self) -> None:
        self.records: list[tuple[Kind, Mapping[str, Any]]] = []

    def note(self, kind: Kind, record: Mapping[str, Any]) -> None:
        self.records.append((kind, record))


def provider(dialect: Dialect = "openai", key: str = KEY) -> Provider:
    return Provider(id=dialect, dialect=dialect, base_url="http://127.0.0.1:9/v1", api_key=key)


def sent(wire: Wire, *, method: str = "POST", headers: Mapping[str, str] | None = None) -> bytes:
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
def test_our_key_goes_out_and_no_other(dialect: Dialect, header: str, value: str) -> None:
    foreign = {"Authorization": "Bearer stolen", "x-api-key": "stolen", "OpenAI-Organization": "stolen"}
    inner = Fixed(httpx2.Response(200, stream=Body()))
    sent(Wire(provider(dialect), Patience(), inner=inner), headers=foreign)
    headers = inner.asked[0].headers
    assert headers[header] == value
    assert "stolen" not in str(dict(headers))
    assert inner.closed


def test_our_patience_counts_and_not_the_clients() -> None:
    inner = Fixed(httpx2.Response(200, stream=Body()))
    sent(Wire(provider(), Patience(connect=3, idle=7), inner=inner))
    assert inner.asked[0].extensions["timeout"] == {"connect": 3, "read": 7, "write": 7, "pool": 3}


def test_without_a_key_none_is_sent() -> None:
    inner = Fixed(httpx2.Response(200, stream=Body()))
    sent(Wire(provider(key=""), Patience(), inner=inner), headers={"Authorization": "Bearer stolen"})
    assert "authorization" not in inner.asked[0].headers


def test_an_answer_goes_through_the_sieve_and_is_closed() -> None:
    body = Body(b"data: brok", b'en\n\ndata: {"a": 1}\n', b"\n")
    wire = Wire(provider(), Patience(), inner=Fixed(httpx2.Response(200, stream=body)))
    assert sent(wire) == b'data: {"a": 1}\n\n'
    assert wire.sifted
    assert wire.sieve.dropped == 1
    assert body.closed


def test_lists_errors_and_packed_answers_are_left_alone() -> None:
    for method, response in (
        ("GET", httpx2.Response(200, stream=Body(b"[1]"))),
        ("POST", httpx2.Response(500, stream=Body(b"[1]"))),
    ):
        wire = Wire(provider(), Patience(), inner=Fixed(response))
        assert sent(wire, method=method) == b"[1]"
        assert not wire.sifted
    packed = Wire(
        provider(), Patience(), inner=Fixed(httpx2.Response(200, headers={"content-encoding": "gzip"}, stream=Body()))
    )
    sent(packed)
    assert not packed.sifted


def test_what_goes_over_the_wire_is_noted_without_keys() -> None:
    notes = Notes()
    wire = Wire(
        provider(), Patience(), notes, inner=Fixed(httpx2.Response(200, headers={"set-cookie": KEY}, stream=Body()))
    )
    sent(wire)
    (kind, request), (other, response) = notes.records
    assert (kind, other) == ("request", "response")
    assert request["body"] == {"key": "[masked]"}
    assert request["headers"]["authorization"] == "[masked]"
    assert response["status"] == 200
    assert KEY not in str(notes.records)


def test_a_body_that_is_closed_gives_no_more() -> None:
    async def main() -> None:
        async def pieces() -> AsyncIterator[bytes]:
            yield b'data: {"a": 1}\n\n'
            yield b'data: {"b": 2}\n\n'

        class Generated(Body):
            def __aiter__(self) -> AsyncIterator[bytes]:
                return pieces()

        body = Sifted(Generated(), Sieve(), 60)
        assert await anext(aiter(body)) == b'data: {"a": 1}\n\n'
        await body.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(body)

    anyio.run(main)


def test_bytes_that_are_no_events_are_silence() -> None:
    async def main() -> None:
        with pytest.raises(httpx2.ReadTimeout, match="no event in 0 s"):
            await anext(Sifted(Body(b": ping\n\n", b": ping\n\n", b": ping\n\n"), Sieve(), 0))

    anyio.run(main)


def test_there_is_a_way_to_every_kind_of_place() -> None:
    for url, proxy in (
        ("http://localhost:1/v1", "http://p:1"),
        ("https://example.com/v1", "http://p:1"),
        ("http://h/v1", ""),
    ):
        place = Provider(id="x", dialect="openai", base_url=url, proxy=proxy)
        assert isinstance(transport(place), httpx2.AsyncHTTPTransport)
