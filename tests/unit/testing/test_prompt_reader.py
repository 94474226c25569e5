"""What a client said, in any protocol."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.testing.prompt_reader import read_prompt
from marid.testing.request import ProtocolName, ReceivedPrompt, ReceivedResult

OPENAI: dict[str, Any] = {
    "messages": [
        {"role": "developer", "content": "be"},
        {"role": "system", "content": [{"type": "text", "text": "good"}]},
        {"role": "user", "content": [{"type": "text", "text": "hi "}, {"type": "image_url"}, {"text": "you"}]},
        {"role": "tool", "tool_call_id": "old", "content": "of an earlier round"},
        {"role": "assistant", "tool_calls": []},
        {"role": "tool", "tool_call_id": "x", "content": "a tree"},
        {"role": "tool", "tool_call_id": "y", "content": "a log"},
    ],
    "tools": [{"type": "function", "function": {"name": "look"}}],
}
ANTHROPIC: dict[str, Any] = {
    "system": [{"type": "text", "text": "be\ngood"}],
    "messages": [
        {"role": "user", "content": "hi you"},
        {"role": "assistant", "content": [{"type": "tool_use"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": "a tree"}]},
                {"type": "tool_result", "tool_use_id": "y", "content": "a log"},
            ],
        },
    ],
    "tools": [{"name": "look"}],
}
GOOGLE: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "be\ngood"}]},
    "contents": [
        {"role": "user", "parts": [{"text": "hi you"}]},
        {"role": "model", "parts": [{"functionCall": {}}]},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "x", "name": "look", "response": {"return_value": "a tree"}}},
                {"functionResponse": {"id": "y", "name": "look", "response": {"output": "a log"}}},
            ],
        },
    ],
    "tools": [{"functionDeclarations": [{"name": "look"}]}],
}


@pytest.mark.parametrize(("protocol", "body"), [("openai", OPENAI), ("anthropic", ANTHROPIC), ("google", GOOGLE)])
def test_every_protocol_says_the_same(protocol: ProtocolName, body: Any) -> None:
    name = "look" if protocol == "google" else ""
    results = (ReceivedResult(id="x", name=name, text="a tree"), ReceivedResult(id="y", name=name, text="a log"))
    assert read_prompt(protocol, body) == ReceivedPrompt(
        system="be\ngood", said="hi you", results=results, tools=("look",)
    )


def test_a_result_that_is_an_object_is_read_as_json() -> None:
    response = {"functionResponse": {"name": "look", "response": {"lines": 3, "more": False}}}
    prompt = read_prompt("google", {"contents": [{"role": "user", "parts": [response]}]})
    assert prompt.results == (ReceivedResult(id="", name="look", text='{"lines": 3, "more": false}'),)


WORDS = ["messages", "contents", "parts", "role", "content", "system", "tools", "functionResponse", "response", "user"]
VALUES = st.recursive(
    st.none() | st.integers() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=20,
)


@given(st.sampled_from(get_args(ProtocolName)), VALUES)
def test_a_body_that_makes_no_sense_reads_as_something(protocol: ProtocolName, body: Any) -> None:
    assert isinstance(read_prompt(protocol, body), ReceivedPrompt)
