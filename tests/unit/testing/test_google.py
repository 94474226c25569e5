"""Google's content."""

import json
from collections.abc import Callable
from typing import Any

from marid.testing import google
from marid.testing.faults import rate_limited
from marid.testing.request import Request
from marid.testing.script import Script, ScriptedModel, ScriptedUsage, call, say

Ask = Callable[..., Request]


def chunks(turn: Any, request: Request) -> list[Any]:
    return [
        json.loads(frame.data.removeprefix(b"data: "))["candidates"][0]
        for frame in google.stream(turn, request, Script())
    ]


def parts(turn: Any, request: Request) -> list[Any]:
    return [part for chunk in chunks(turn, request) for part in chunk["content"].get("parts", [])]


def test_thoughts_text_and_calls_come_in_order_and_the_first_call_is_signed(ask: Ask) -> None:
    turn = say("a", reasoning="r", calls=[call("f", {"x": 1}, id="i"), call("g")])
    assert parts(turn, ask("google")) == [
        {"text": "r", "thought": True},
        {"text": "a"},
        {"functionCall": {"id": "i", "name": "f", "args": {"x": 1}}, "thoughtSignature": turn.signature},
        {"functionCall": {"id": "call_0_1", "name": "g", "args": {}}},
    ]


def test_without_a_call_the_signature_comes_on_its_own(ask: Ask) -> None:
    turn = say("a", reasoning="r")
    assert parts(turn, ask("google"))[-1] == {"text": "", "thoughtSignature": turn.signature}
    assert [frame.piece for frame in google.stream(turn, ask("google"), Script())] == [True, True, False, False]


def test_only_the_last_event_says_why_it_ended(ask: Ask) -> None:
    seen = chunks(say("a", "b", finish="length"), ask("google"))
    assert [chunk.get("finishReason") for chunk in seen] == [None, None, "MAX_TOKENS"]


def test_what_was_thought_is_counted_apart(ask: Ask) -> None:
    body: Any = google.full_body(
        say("a", usage=ScriptedUsage(input=9, output=7, reasoning=3, cached=2)), ask("google"), Script()
    )
    assert body["usageMetadata"] == {
        "promptTokenCount": 9,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
        "cachedContentTokenCount": 2,
        "totalTokenCount": 16,
    }
    assert "usageMetadata" not in json.dumps(google.full_body(say("a", usage=None), ask("google"), Script()))


def test_a_stream_that_is_not_asked_for_as_events_is_a_list(ask: Ask) -> None:
    request = ask("/v1beta/models/m:streamGenerateContent")
    assert isinstance(google.full_body(say("a"), request, Script()), list)
    assert not request.stream


def test_a_refusal_says_when_to_come_back_also_in_its_body() -> None:
    body: Any = google.error(rate_limited(retry_after=2))
    assert body["error"]["details"][0]["retryDelay"] == "2s"
    assert "details" not in json.dumps(google.error(rate_limited(retry_after="Mon, 01 Jan 2035 00:00:00 GMT")))


def test_a_listed_model_has_its_limits() -> None:
    body: Any = google.models([ScriptedModel(id="m", context=100, output=10)])
    assert (body["models"][0]["name"], body["models"][0]["inputTokenLimit"]) == ("models/m", 100)
