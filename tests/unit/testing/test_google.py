"""Google's content."""

import json
from collections.abc import Callable
from typing import Any

from marid.testing import google
from marid.testing.faults import rate_limited
from marid.testing.request import Request
from marid.testing.script import Script, call, say

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


def test_a_stream_that_is_not_asked_for_as_events_is_a_list(ask: Ask) -> None:
    request = ask("/v1beta/models/m:streamGenerateContent")
    assert isinstance(google.full_body(say("a"), request, Script()), list)
    assert not request.stream


def test_a_refusal_says_when_to_come_back_also_in_its_body() -> None:
    body: Any = google.error(rate_limited(retry_after=2))
    assert body["error"]["details"][0]["retryDelay"] == "2s"
    assert "details" not in json.dumps(google.error(rate_limited(retry_after="Mon, 01 Jan 2035 00:00:00 GMT")))
