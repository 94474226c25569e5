"""Replies in the protocols of OpenAI, Anthropic and Google."""

import json
from collections.abc import Callable
from typing import Any

from marid.testing import anthropic, google, openai
from marid.testing.faults import rate_limited
from marid.testing.request import Request
from marid.testing.script import Script, ScriptedUsage, call, say

Ask = Callable[..., Request]
TURN = say("a", "b", reasoning=["r"], calls=[call("f", {"x": 1}, pieces=2), call("g", "")])


def openai_chunks(turn: Any, request: Request, script: Script | None = None) -> list[Any]:
    frames = list(openai.stream(turn, request, script or Script()))
    assert frames[-1].data == b"data: [DONE]\n\n"
    return [json.loads(frame.data.removeprefix(b"data: ")) for frame in frames[:-1]]


def test_pieces_come_in_order_and_a_call_opens_before_its_arguments(ask: Ask) -> None:
    deltas = [chunk["choices"][0]["delta"] for chunk in openai_chunks(TURN, ask())]
    assert deltas[:4] == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "r"},
        {"content": "a"},
        {"content": "b"},
    ]
    calls = [delta["tool_calls"][0] for delta in deltas[4:-1]]
    assert [(part["index"], part.get("id"), part["function"]) for part in calls] == [
        (0, "call_0_0", {"name": "f", "arguments": ""}),
        (0, None, {"arguments": '{"x"'}),
        (0, None, {"arguments": ": 1}"}),
        (1, "call_0_1", {"name": "g", "arguments": ""}),
    ]
    assert deltas[-1] == {}


def test_usage_comes_last_and_only_when_asked_for(ask: Ask) -> None:
    plain = openai_chunks(say("a"), ask())
    assert not any("usage" in chunk for chunk in plain)
    wanting = ask("openai", {"model": "m", "stream_options": {"include_usage": True}})
    last = openai_chunks(say("a"), wanting)[-1]
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] == 15
    assert "usage" not in openai_chunks(say("a", usage=None), wanting)[-1]


def test_an_empty_reply_has_no_content(ask: Ask) -> None:
    body: Any = openai.full_body(say(), ask(), Script())
    assert body["choices"][0]["message"] == {"role": "assistant", "content": None, "refusal": None}


SIGNED_TURN = say(
    "a", "b", reasoning=["r"], calls=[call("f", {"x": 1}, pieces=2)], usage=ScriptedUsage(input=9, output=7, cached=4)
)


def events(turn: Any, request: Request) -> list[Any]:
    frames = list(anthropic.stream(turn, request, Script()))
    lines = [frame.data.decode().splitlines() for frame in frames]
    values = [json.loads(data.removeprefix("data: ")) for _, data, _ in lines]
    assert [name.removeprefix("event: ") for name, _, _ in lines] == [value["type"] for value in values]
    return values


def test_blocks_open_grow_and_close_in_order(ask: Ask) -> None:
    seen = events(SIGNED_TURN, ask("anthropic"))
    assert [(value["index"], value["content_block"]["type"]) for value in seen if "content_block" in value] == [
        (0, "thinking"),
        (1, "text"),
        (2, "tool_use"),
    ]
    deltas = [value["delta"] for value in seen if value["type"] == "content_block_delta"]
    assert deltas == [
        {"type": "thinking_delta", "thinking": "r"},
        {"type": "signature_delta", "signature": SIGNED_TURN.signature},
        {"type": "text_delta", "text": "a"},
        {"type": "text_delta", "text": "b"},
        {"type": "input_json_delta", "partial_json": '{"x"'},
        {"type": "input_json_delta", "partial_json": ": 1}"},
    ]
    assert [value["type"] for value in seen[-2:]] == ["message_delta", "message_stop"]


def test_a_reply_of_calls_alone_has_no_other_block(ask: Ask) -> None:
    seen = events(say(calls=[call("f", "")]), ask("anthropic"))
    assert [value["type"] for value in seen[2:4]] == ["content_block_start", "content_block_stop"]
    assert seen[2]["content_block"] == {"type": "tool_use", "id": "call_0_0", "name": "f", "input": {}}


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
