"""One try at an answer, over the wire."""

import gzip
import json
from dataclasses import replace

import anyio
import pytest

from fakes.model import DIALECTS, asking, provider_at
from fakes.web import answer, serving
from marid.adapters.gateway.exchange import Broken, Exchange, Setting
from marid.adapters.gateway.library import load
from marid.adapters.gateway.patience import Patience
from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.chat import Finished, GatewayEvent, TextDelta, Usage
from marid.core.errors import Exhausted, Unavailable
from marid.testing import Cut, Gate, Insert, ModelServer, Stall, always, say

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")


def tried(
    server: ModelServer, dialect: Dialect, patience: Patience
) -> tuple[list[GatewayEvent], Exchange, Broken | None]:
    got: list[GatewayEvent] = []

    async def take(event: GatewayEvent) -> None:
        got.append(event)

    load(provider_at(server, dialect))

    async def main() -> tuple[Exchange, Broken | None]:
        exchange = Exchange(Setting(provider_at(server, dialect), patience, None), asking(dialect))
        try:
            await exchange.run(take)
        except Broken as broken:
            return exchange, broken
        return exchange, None

    return got, *anyio.run(main)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_silent_service_is_given_up_before_it_says_anything(dialect: Dialect) -> None:
    with ModelServer([say("first"), say("late", faults=[Stall(before_headers=True)])]) as server:
        tried(server, dialect, Patience())  # the first request of all takes long on our side
        _, exchange, broken = tried(server, dialect, Patience(idle=0.5))
        assert broken
        assert broken.failure.again
        assert isinstance(broken.failure.error, Unavailable)
        assert "silent" in str(broken)
        assert not exchange.given
        assert server.ended(1) == "left"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_silence_in_the_middle_ends_the_answer(dialect: Dialect) -> None:
    with ModelServer([say("one", "two", faults=[Stall(after=1)])]) as server:
        got, exchange, broken = tried(server, dialect, Patience(idle=1.0))
        assert broken
        assert exchange.given
        assert TextDelta("one") in got
        assert exchange.usage().estimated
        assert server.ended(0) == "left"


def test_an_answer_without_end_is_ended() -> None:
    with ModelServer([say("one", "two", faults=[Stall(after=1)])]) as server:
        _, _, broken = tried(server, "openai", Patience(idle=60, whole=0.3))
        assert broken
        assert isinstance(broken.failure.error, Exhausted)
        assert not broken.failure.again


def test_a_connection_that_breaks_after_the_end_is_no_failure() -> None:
    ends: list[bool] = []
    for events in range(1, 6):
        with ModelServer([say("one", faults=[Cut(events=events, how="reset")])]) as server:
            got, _, broken = tried(server, "openai", Patience())
        ends.append(broken is None)
        assert isinstance(got[-1], Finished) is ends[-1] if got else broken
    assert ends == sorted(ends)
    assert ends.count(True) > 1


def test_an_answer_that_comes_packed_is_read_as_it_is() -> None:
    chunk = {"id": "x", "choices": [{"index": 0, "delta": {"content": "hello"}, "finish_reason": "stop"}]}
    packed = gzip.compress(b"data: %s\n\ndata: [DONE]\n\n" % json.dumps(chunk).encode())
    got: list[GatewayEvent] = []

    async def take(event: GatewayEvent) -> None:
        got.append(event)

    async def main() -> None:
        await Exchange(Setting(provider, Patience(), None), asking("openai")).run(take)

    with serving() as server:
        headers = {"Content-Encoding": "gzip", "Connection": "close"}
        server.replies["/v1/chat/completions"] = answer(packed, kind="text/event-stream", headers=headers)
        provider = Provider(id="openai", dialect="openai", base_url=server.url("/v1"))
        anyio.run(main)
    assert isinstance(got[-1], Finished)
    assert got[-1].reply.text == "hello"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_that_is_no_stream_of_events_is_told(dialect: Dialect) -> None:
    with ModelServer([always(say(faults=[Cut(events=0, how="clean")]))]) as server:
        _, exchange, broken = tried(server, dialect, Patience())
    assert broken
    assert isinstance(broken.failure.error, Unavailable)
    assert not exchange.given


def test_an_event_of_an_unknown_shape_ends_the_answer_even_if_the_end_is_there_already() -> None:
    odd = b'data: {"id": "x", "choices": [{"index": 0, "delta": {"tool_calls": [7]}}]}\n\n'
    end = b'data: {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
    with ModelServer([say("one", "two", faults=[Insert(data=odd + end, after=1)])]) as server:
        got, _, broken = tried(server, "openai", Patience())
    assert TextDelta("one") in got
    assert broken
    assert isinstance(broken.failure.error, Unavailable)


def test_a_refusal_of_the_model_is_its_answer() -> None:
    chunk = b'data: {"id": "x", "choices": [{"index": 0, "delta": {"refusal": "I will not"}}]}\n\n'
    with ModelServer([say(faults=[Insert(data=chunk, after=0)])]) as server:
        got, _, broken = tried(server, "openai", Patience())
    assert broken is None
    assert TextDelta("I will not") in got
    end = got[-1]
    assert isinstance(end, Finished)
    assert (end.reason, end.reply.text) == ("filtered", "I will not")


def test_before_anything_came_the_cost_is_the_question() -> None:
    with ModelServer([]) as server:

        async def main() -> Usage:
            request = replace(asking("openai"), tools=(), system="")
            return Exchange(Setting(provider_at(server, "openai"), Patience(), None), request).usage()

        assert anyio.run(main) == Usage(1, 0, estimated=True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_cancelled_answer_closes_its_connection_at_once(dialect: Dialect) -> None:
    gate = Gate()
    with ModelServer([say("one", "two", faults=[Stall(gate=gate, after=1)])]) as server:

        async def main() -> None:
            with anyio.CancelScope() as scope:

                async def take(event: GatewayEvent) -> None:
                    scope.cancel()

                await Exchange(Setting(provider_at(server, dialect), Patience(), None), asking(dialect)).run(take)
            assert scope.cancelled_caught

        anyio.run(main)
        assert server.ended(0, seconds=1.0) == "left"
