"""One attempt at an answer, over the wire."""

import gzip
import json
from dataclasses import replace

import anyio
import pytest

from fakes.model import DIALECTS, events_of, gateway_to, model_request, play, provider_at
from fakes.web import answer, serving
from marid.adapters.gateway.attempt import Attempt, AttemptFailed
from marid.adapters.gateway.gateway import Gateway
from marid.adapters.gateway.options import GatewayOptions, RetryPolicy
from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.errors import BadInput, Exhausted, Unavailable
from marid.core.model_io import (
    CallReady,
    Finished,
    GatewayEvent,
    Message,
    RetryScheduled,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
    user_message,
)
from marid.testing import Cut, Insert, ModelServer, Stall, always, call, malformed_event, say

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")


def attempt(
    server: ModelServer, dialect: Dialect = "openai", policy: RetryPolicy | None = None
) -> tuple[list[GatewayEvent], Attempt, AttemptFailed | None]:
    return run(provider_at(server, dialect), dialect, policy or RetryPolicy())


def run(
    provider: Provider, dialect: Dialect, policy: RetryPolicy
) -> tuple[list[GatewayEvent], Attempt, AttemptFailed | None]:
    events: list[GatewayEvent] = []

    async def take(event: GatewayEvent) -> None:
        events.append(event)

    Gateway(provider).warm()

    async def main() -> tuple[Attempt, AttemptFailed | None]:
        attempt = Attempt(provider, GatewayOptions(retry_policy=policy), model_request(dialect))
        try:
            await attempt.run(take)
        except AttemptFailed as failed:
            return attempt, failed
        return attempt, None

    return events, *anyio.run(main)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_silent_service_times_out_before_any_output(dialect: Dialect) -> None:
    with ModelServer([say("first"), say("late", faults=[Stall(before_headers=True)])]) as server:
        attempt(server, dialect)  # the first request of all takes long on our side
        _, tried, broken = attempt(server, dialect, RetryPolicy(idle_timeout=0.5))
        assert broken
        assert broken.failure.can_retry
        assert isinstance(broken.failure.error, Unavailable)
        assert "timed out" in str(broken)
        assert not tried.has_output
        assert server.wait_for_end(1) == "left"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_silence_in_the_middle_ends_the_answer(dialect: Dialect) -> None:
    with ModelServer([say("one", "two", faults=[Stall(after=1)])]) as server:
        events, tried, broken = attempt(server, dialect, RetryPolicy(idle_timeout=1.0))
        assert broken
        assert tried.has_output
        assert TextDelta("one") in events
        assert tried.usage().estimated
        assert server.wait_for_end(0) == "left"


def test_an_answer_without_end_is_ended() -> None:
    with ModelServer([say("one", "two", faults=[Stall(after=1)])]) as server:
        _, _, broken = attempt(server, "openai", RetryPolicy(idle_timeout=60, total_timeout=0.3))
        assert broken
        assert isinstance(broken.failure.error, Exhausted)
        assert not broken.failure.can_retry


def test_a_connection_that_breaks_after_the_end_is_not_a_failure() -> None:
    ends: list[bool] = []
    for count in range(1, 6):
        with ModelServer([say("one", faults=[Cut(events=count, how="reset")])]) as server:
            events, _, broken = attempt(server)
        ends.append(broken is None)
        assert isinstance(events[-1], Finished) is ends[-1] if events else broken
    assert ends == sorted(ends)
    assert ends.count(True) > 1


CHUNK = {"id": "x", "choices": [{"index": 0, "delta": {"content": "hello"}, "finish_reason": "stop"}]}
STREAM = b"data: %s\n\ndata: [DONE]\n\n" % json.dumps(CHUNK).encode()


def served(
    reply: bytes, dialect: Dialect = "openai", path: str = "/v1/chat/completions"
) -> tuple[list[GatewayEvent], AttemptFailed | None]:
    """What comes of a reply that is not scripted."""
    with serving() as server:
        server.replies[path] = reply
        provider = Provider(id=dialect, dialect=dialect, base_url=server.url("/v1"))
        events, _, failed = run(provider, dialect, RetryPolicy())
        return events, failed


def reply_of(body: bytes, kind: str = "text/event-stream", **headers: str) -> bytes:
    return answer(body, kind=kind, headers=headers)


def test_a_compressed_answer_is_decompressed_and_a_cut_one_is_incomplete() -> None:
    events, broken = served(reply_of(gzip.compress(STREAM), **{"Content-Encoding": "gzip"}))
    assert broken is None
    assert isinstance(events[-1], Finished)
    assert events[-1].reply.text == "hello"
    long = b'data: {"id": "x", "choices": [{"index": 0, "delta": {"content": "one"}}]}\n\n' + STREAM
    for packed in (gzip.compress(long)[:-40], gzip.compress(long.partition(b"hello")[0])):
        events, broken = served(reply_of(packed, **{"Content-Encoding": "gzip"}))
        assert broken
        assert "broke off" in str(broken)
        assert not [event for event in events if isinstance(event, Finished)]


def test_an_unknown_content_encoding_is_an_error_that_is_not_reattempt() -> None:
    _, broken = served(reply_of(STREAM, **{"Content-Encoding": "br"}))
    assert broken
    assert not broken.failure.can_retry
    assert "'br'" in str(broken)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_damaged_event_breaks_the_answer_and_no_call_of_it_is_ready(dialect: Dialect) -> None:
    turn = say("one", "two", calls=[call("get_tree", {"path": "."})], faults=[malformed_event(after=1)])
    with ModelServer([turn]) as server:
        events, tried, broken = attempt(server, dialect)
    assert broken
    assert isinstance(broken.failure.error, Unavailable)
    assert "part of the answer is lost" in str(broken)
    assert tried.has_output
    assert TextDelta("one") in events
    assert not [event for event in events if isinstance(event, CallReady | Finished) or event == TextDelta("two")]


def test_damage_after_the_end_does_not_matter() -> None:
    late = Insert(data=STREAM.replace(b"hello", b"two") + b"data: {\n\n", after=1)
    with ModelServer([say("one", faults=[late])]) as server:
        events, _, broken = attempt(server)
    assert broken is None
    assert isinstance(events[-1], Finished)
    assert events[-1].reply.text == "onetwo"


def test_a_page_instead_of_an_answer_is_an_error_that_is_not_reattempt() -> None:
    places: dict[Dialect, str] = {"openai": "/v1/chat/completions", "anthropic": "/v1/v1/messages"}
    for dialect, path in places.items():
        _, broken = served(reply_of(b"<html>Log in</html>", "text/html; charset=utf-8"), dialect, path)
        assert broken
        assert not broken.failure.can_retry
        assert "answered with 'text/html'" in str(broken)
        assert "check base_url" in str(broken)


def test_an_answer_that_is_not_streamed_is_an_answer() -> None:
    calls = [{"id": "a", "type": "function", "function": {"name": "get_tree", "arguments": '{"path": "."}'}}] * 2
    message = {"role": "assistant", "content": "hello", "tool_calls": calls}
    whole = {"id": "x", "object": "chat.completion", "choices": [{"message": message, "finish_reason": "tool_calls"}]}
    events, broken = served(reply_of(json.dumps({**whole, "created": 1, "model": "m"}).encode(), "application/json"))
    assert broken is None
    end = events[-1]
    assert isinstance(end, Finished)
    assert (end.reason, end.reply.text) == ("calls", "hello")
    assert [(one.name, one.arguments) for one in end.reply.calls] == [("get_tree", '{"path": "."}')] * 2


def test_an_error_with_status_200_is_an_error() -> None:
    events, broken = served(reply_of(b'{"error": {"message": "too busy", "code": 503}}', "application/json"))
    assert broken
    assert "too busy" in str(broken)
    assert events == []


def test_an_error_between_the_events_ends_the_answer_with_the_service_s_message() -> None:
    error = b'error: {"code": 500, "message": "Compute error.", "type": "server_error"}\n\n'
    with ModelServer([say("one", "two", faults=[Insert(data=error, after=1)])]) as server:
        events, tried, broken = attempt(server)
    assert broken
    assert isinstance(broken.failure.error, Unavailable)
    assert "Compute error." in str(broken)
    assert tried.has_output
    assert events == [TextDelta("one")]
    _, first = served(reply_of(error + b"data: [DONE]\n\n"))
    assert first
    assert first.failure.can_retry
    assert "Compute error." in str(first)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_empty_stream_is_an_error(dialect: Dialect) -> None:
    with ModelServer([always(say(faults=[Cut(events=0, how="clean")]))]) as server:
        _, tried, broken = attempt(server, dialect)
    assert broken
    assert isinstance(broken.failure.error, Unavailable)
    assert not tried.has_output


def test_a_malformed_call_ends_the_answer_even_if_the_end_has_come() -> None:
    odd = b'data: {"id": "x", "choices": [{"index": 0, "delta": {"tool_calls": [7]}}]}\n\n'
    end = b'data: {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
    with ModelServer([say("one", "two", faults=[Insert(data=odd + end, after=1)])]) as server:
        events, _, broken = attempt(server)
    assert TextDelta("one") in events
    assert broken
    assert isinstance(broken.failure.error, Unavailable)


def test_a_refusal_of_the_model_is_its_answer() -> None:
    chunk = b'data: {"id": "x", "choices": [{"index": 0, "delta": {"refusal": "I will not"}}]}\n\n'
    with ModelServer([say(faults=[Insert(data=chunk, after=0)])]) as server:
        events, _, broken = attempt(server)
    assert broken is None
    assert TextDelta("I will not") in events
    end = events[-1]
    assert isinstance(end, Finished)
    assert (end.reason, end.reply.text) == ("filtered", "I will not")


def test_before_any_answer_the_usage_is_that_of_the_request() -> None:
    with ModelServer([]) as server:

        async def main() -> Usage:
            request = replace(model_request("openai"), tools=(), system="")
            return Attempt(provider_at(server, "openai"), GatewayOptions(), request).usage()

        assert anyio.run(main) == Usage(1, 0, estimated=True)


def test_an_answer_that_fills_the_context_window_is_an_error() -> None:
    events, error, _ = play("anthropic", say("half ", "of it", finish="model_context_window_exceeded"))
    assert isinstance(error, Exhausted)
    assert "start a new conversation" in str(error)
    assert [event.text for event in events if isinstance(event, TextDelta)][:1] == ["half "]


def test_a_request_that_cannot_be_built_is_bad_input() -> None:
    made = ToolCall(id="c", name="get_tree", arguments='{"path": NaN}')
    result = Message(role="tool", parts=(ToolResult(call_id="c", name="get_tree", text="x"),))
    with ModelServer([say("done")]) as server:
        request = model_request("anthropic", user_message("hi"), Message(role="assistant", parts=(made,)), result)
        events, error = events_of(gateway_to(server, "anthropic"), request)
        assert list(server.requests) == []
    assert isinstance(error, BadInput)
    assert [event for event in events if isinstance(event, RetryScheduled)] == []
