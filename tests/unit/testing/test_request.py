"""What a client asked, in any protocol."""

from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.testing.request import ProtocolName, ReceivedPrompt, ReceivedResult, Request, Route, find_route, read_prompt

Ask = Callable[..., Request]


@pytest.mark.parametrize(
    "headers", [{"authorization": "Bearer hidden"}, {"x-api-key": "hidden"}, {"x-goog-api-key": "hidden"}]
)
def test_the_key_is_found_where_the_protocol_puts_it(ask: Ask, headers: dict[str, str]) -> None:
    assert ask(headers=headers).key == "hidden"
    assert ask("/v1beta/models/m:generateContent?key=hidden").key == "hidden"
    assert ask().key == ""


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/v1/chat/completions", Route(protocol="openai", kind="chat")),
        ("POST", "/api/v1/chat/completions", Route(protocol="openai", kind="chat")),
        ("POST", "/v1/embeddings", Route(protocol="openai", kind="embeddings")),
        ("POST", "/v1/messages", Route(protocol="anthropic", kind="chat")),
        ("POST", "/v1beta/models/a%2Fb:generateContent", Route(protocol="google", kind="chat", model="a/b")),
        ("POST", "/v1beta/models/m:streamGenerateContent", Route(protocol="google", kind="chat", model="m")),
        ("POST", "/v1beta/models/m:embedContent", Route(protocol="google", kind="embeddings", model="m")),
        ("POST", "/v1beta/models/m:countTokens", Route(protocol="google", kind="unknown", model="m")),
        ("GET", "/v1/models", Route(protocol="openai", kind="models")),
        ("GET", "/v1/models/a/b", Route(protocol="openai", kind="models", model="a/b")),
        ("GET", "/v1beta/models", Route(protocol="google", kind="models")),
        ("GET", "/v1/modelsx", Route(protocol="openai", kind="unknown", model="x")),
        ("POST", "/v1/models", Route(protocol="openai", kind="unknown")),
        ("GET", "/", Route(protocol="openai", kind="unknown")),
    ],
)
def test_a_path_has_its_provider_s_meaning(method: str, path: str, expected: Route) -> None:
    assert find_route(method, path, {}) == expected


def test_headers_name_the_protocol_of_a_list_of_models() -> None:
    assert find_route("GET", "/v1/models", {"anthropic-version": "2023-06-01"}).protocol == "anthropic"
    assert find_route("GET", "/v1/models", {"x-goog-api-key": "k"}).protocol == "google"


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
def test_a_prompt_reads_the_same_in_every_protocol(protocol: ProtocolName, body: Any) -> None:
    name = "look" if protocol == "google" else ""
    results = (ReceivedResult(id="x", name=name, text="a tree"), ReceivedResult(id="y", name=name, text="a log"))
    expected = ReceivedPrompt(system="be\ngood", said="hi you", results=results, tools=("look",))
    assert read_prompt(protocol, body) == expected


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
def test_any_json_can_be_read_as_a_prompt(protocol: ProtocolName, body: Any) -> None:
    assert isinstance(read_prompt(protocol, body), ReceivedPrompt)
