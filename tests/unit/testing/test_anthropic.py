"""Anthropic's messages."""

import json
from collections.abc import Callable
from typing import Any

from marid.testing import anthropic
from marid.testing.request import Request
from marid.testing.script import Script, ScriptedUsage, call, say

Ask = Callable[..., Request]
TURN = say(
    "a", "b", reasoning=["r"], calls=[call("f", {"x": 1}, pieces=2)], usage=ScriptedUsage(input=9, output=7, cached=4)
)


def events(turn: Any, request: Request) -> list[Any]:
    frames = list(anthropic.stream(turn, request, Script()))
    lines = [frame.data.decode().splitlines() for frame in frames]
    values = [json.loads(data.removeprefix("data: ")) for _, data, _ in lines]
    assert [name.removeprefix("event: ") for name, _, _ in lines] == [value["type"] for value in values]
    return values


def test_blocks_open_grow_and_close_in_order(ask: Ask) -> None:
    seen = events(TURN, ask("anthropic"))
    assert [(value["index"], value["content_block"]["type"]) for value in seen if "content_block" in value] == [
        (0, "thinking"),
        (1, "text"),
        (2, "tool_use"),
    ]
    deltas = [value["delta"] for value in seen if value["type"] == "content_block_delta"]
    assert deltas == [
        {"type": "thinking_delta", "thinking": "r"},
        {"type": "signature_delta", "signature": TURN.signature},
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
