"""Chat completions."""

import json
from collections.abc import Callable
from typing import Any

from marid.testing import openai
from marid.testing.request import Request
from marid.testing.script import Script, call, say

Ask = Callable[..., Request]
TURN = say("a", "b", reasoning=["r"], calls=[call("f", {"x": 1}, pieces=2), call("g", "")])


def chunks(turn: Any, request: Request, script: Script | None = None) -> list[Any]:
    frames = list(openai.stream(turn, request, script or Script()))
    assert frames[-1].data == b"data: [DONE]\n\n"
    return [json.loads(frame.data.removeprefix(b"data: ")) for frame in frames[:-1]]


def test_pieces_come_in_order_and_a_call_opens_before_its_arguments(ask: Ask) -> None:
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks(TURN, ask())]
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
    plain = chunks(say("a"), ask())
    assert not any("usage" in chunk for chunk in plain)
    wanting = ask("openai", {"model": "m", "stream_options": {"include_usage": True}})
    last = chunks(say("a"), wanting)[-1]
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] == 15
    assert "usage" not in chunks(say("a", usage=None), wanting)[-1]


def test_an_empty_reply_has_no_content(ask: Ask) -> None:
    body: Any = openai.full_body(say(), ask(), Script())
    assert body["choices"][0]["message"] == {"role": "assistant", "content": None, "refusal": None}
