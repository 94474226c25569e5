"""The response to a request."""

import base64
import json
import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marid.testing.embeddings import embeddings, vector
from marid.testing.faults import (
    Refusal,
    RefusalKind,
    Trickle,
    bad_request,
    context_too_long,
    overloaded_error,
    rate_limited,
    unauthorized_error,
)
from marid.testing.request import ProtocolName, Request
from marid.testing.response_steps import ScriptedResponse
from marid.testing.responses import PROTOCOL_WRITERS, find_flaw, make_response, objection
from marid.testing.script import Script, ScriptedModel, say

Ask = Callable[..., Request]
SCRIPT = Script(models=(ScriptedModel(id="a/b"), ScriptedModel(id="c")))


def body(found: ScriptedResponse) -> Any:
    (frame,) = found.frames
    return json.loads(frame.data)


def test_a_refusal_has_the_status_of_its_provider_and_may_have_retry_after(ask: Ask) -> None:
    assert make_response(ask("openai"), SCRIPT, overloaded_error()).status == 503
    assert make_response(ask("anthropic"), SCRIPT, overloaded_error()).status == 529
    assert make_response(ask(), SCRIPT, rate_limited(retry_after=3)).headers == {"Retry-After": "3"}
    assert make_response(ask(), SCRIPT, rate_limited(retry_after=None)).headers == {}


@pytest.mark.parametrize("protocol", get_args(ProtocolName))
@pytest.mark.parametrize("kind", get_args(RefusalKind))
def test_every_refusal_has_a_status_and_a_message(ask: Ask, protocol: ProtocolName, kind: RefusalKind) -> None:
    found = make_response(ask(protocol), SCRIPT, Refusal(kind=kind))
    assert found.status >= 400
    assert body(found)["error"]["message"]
    assert b'"because"' in found.error_event(Refusal(kind=kind, message="because")).data


@pytest.mark.parametrize(
    ("protocol", "kind", "message"),
    [
        ("openai", "context_length_exceeded", "context length is 100 tokens. However, your messages resulted in 120"),
        ("anthropic", "invalid_request_error", "prompt is too long: 120 tokens > 100 maximum"),
        ("google", "INVALID_ARGUMENT", "(120) exceeds the maximum number of tokens allowed (100)"),
    ],
)
def test_a_prompt_that_is_too_long_has_the_provider_s_message(protocol: ProtocolName, kind: str, message: str) -> None:
    body: Any = PROTOCOL_WRITERS[protocol].error(context_too_long(limit=100, used=120))
    assert kind in body["error"].values()
    assert message in body["error"]["message"]


def test_a_turn_is_streamed_if_that_was_asked_for(ask: Ask) -> None:
    turn = say("a", faults=[Trickle()])
    whole, stream = make_response(ask(), SCRIPT, turn), make_response(ask("openai", {"stream": True}), SCRIPT, turn)
    assert (whole.stream, len(whole.frames)) == (False, 1)
    assert (stream.stream, len(stream.frames)) == (True, 4)
    assert whole.faults == stream.faults == (Trickle(),)
    assert whole.error_event(overloaded_error()).data.startswith(b'{"error"')
    assert stream.error_event(overloaded_error()).data.startswith(b"data: ")


def test_models_are_listed_and_found_by_name(ask: Ask) -> None:
    listed = body(make_response(ask("/v1/models", method="GET"), SCRIPT, None))["data"]
    assert [one["id"] for one in listed] == ["a/b", "c"]
    assert body(make_response(ask("/v1/models/a/b", method="GET"), SCRIPT, None))["id"] == "a/b"
    assert make_response(ask("/v1/models/d", method="GET"), SCRIPT, None).status == 404


def test_other_requests_take_only_the_faults_of_a_turn(ask: Ask) -> None:
    spoilt = say("not this", faults=[Trickle()])
    for request in (ask("/v1/models", method="GET"), ask("/v1/embeddings", {"input": "a"})):
        found = make_response(request, SCRIPT, spoilt)
        assert found.faults == (Trickle(),)
        assert b"not this" not in found.frames[0].data


def test_what_is_not_served_is_named(ask: Ask) -> None:
    found = make_response(ask("/v1/audio"), SCRIPT, None)
    assert found.status == 404
    assert body(found)["error"]["message"] == "nothing is served at POST /v1/audio"


def test_a_wrong_key_and_a_body_that_is_not_an_object_are_refused(ask: Ask) -> None:
    guarded = Script(key="right")
    assert objection(ask(), guarded) == unauthorized_error()
    assert objection(ask(headers={"x-api-key": "right"}), guarded) is None
    assert objection(ask("openai", [1]), SCRIPT) == bad_request("the body is not a JSON object")
    assert objection(ask("/v1/models", [1], method="GET"), SCRIPT) is None


def test_only_a_strict_script_refuses_a_call_without_its_result(ask: Ask) -> None:
    request = ask("openai", {"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}]})
    assert objection(request, SCRIPT) is None
    assert objection(request, Script(strict=True)) == bad_request("calls ['a'] have no results")
    assert objection(ask(), Script(strict=True)) is None


def openai(*moves: str) -> Any:
    made: dict[str, Callable[[list[str]], list[Any]]] = {
        "say": lambda _: [{"role": "user", "content": "hi"}],
        "call": lambda ids: [{"role": "assistant", "tool_calls": [{"id": id} for id in ids]}],
        "give": lambda ids: [{"role": "tool", "tool_call_id": id} for id in ids],
    }
    return {"messages": [message for move in moves for message in made[move.split()[0]](move.split()[1:])]}


def anthropic(*moves: str) -> Any:
    made: dict[str, Callable[[list[str]], Any]] = {
        "say": lambda _: {"role": "user", "content": "hi"},
        "call": lambda ids: {"role": "assistant", "content": [{"type": "tool_use", "id": id} for id in ids]},
        "give": lambda ids: {
            "role": "user",
            "content": [*({"type": "tool_result", "tool_use_id": id} for id in ids), {"type": "text", "text": "also"}],
        },
    }
    return {"messages": [made[move.split()[0]](move.split()[1:]) for move in moves]}


def google(*moves: str) -> Any:
    made: dict[str, Callable[[list[str]], Any]] = {
        "say": lambda _: [{"text": "hi"}],
        "call": lambda ids: [{"functionCall": {"name": id}} for id in ids],
        "give": lambda ids: [{"functionResponse": {"name": id}} for id in ids],
    }
    return {"contents": [{"parts": made[move.split()[0]](move.split()[1:])} for move in moves]}


PROTOCOLS = {"openai": openai, "anthropic": anthropic, "google": google}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "moves",
    [
        [],
        ["say"],
        ["say", "call a b", "give b a", "say"],
        ["say", "call a", "give a", "call a", "give a"],
        ["say", "call a a", "give a a"],
    ],
)
def test_calls_with_their_results_are_accepted(ask: Ask, protocol: str, moves: Sequence[str]) -> None:
    assert find_flaw(ask(protocol, PROTOCOLS[protocol](*moves))) == ""


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("moves", "said"),
    [
        (["say", "call a b"], "calls ['a', 'b'] have no results"),
        (["say", "call a b", "give a"], "results for ['a'] follow calls ['a', 'b']"),
        (["say", "call a", "say", "give a"], "calls ['a'] are not followed by their results"),
        (["say", "call a", "call b"], "calls ['a'] are not followed by their results"),
        (["give a"], "results for ['a'] follow calls []"),
    ],
)
def test_a_call_without_its_result_is_not(ask: Ask, protocol: str, moves: Sequence[str], said: str) -> None:
    assert find_flaw(ask(protocol, PROTOCOLS[protocol](*moves))) == said


@example("ÔHÁ:Ð", 1)  # two words that cancel each other out
@given(st.text(), st.integers(1, 64))
def test_a_vector_has_length_one_and_is_always_the_same(text: str, dimensions: int) -> None:
    found = vector(text, dimensions)
    assert len(found) == dimensions
    assert math.isclose(math.hypot(*found), 1.0)
    assert vector(text, dimensions) == found


def test_texts_that_share_words_are_nearer() -> None:
    fox, other, sky = (vector(text, 64) for text in ("the red fox", "a red fox", "clouds above"))
    assert sum(a * b for a, b in zip(fox, other, strict=True)) > sum(a * b for a, b in zip(fox, sky, strict=True))


def test_a_text_or_a_list_of_them_is_answered_in_order(ask: Ask) -> None:
    one: Any = embeddings(ask("/v1/embeddings", {"model": "v", "input": "red fox"}), 4)
    two: Any = embeddings(ask("/v1/embeddings", {"model": "v", "input": ["red", "fox"], "dimensions": 3}), 4)
    assert one["data"][0]["embedding"] == vector("red fox", 4)
    assert [entry["embedding"] for entry in two["data"]] == [vector("red", 3), vector("fox", 3)]
    assert one["usage"] == {"prompt_tokens": 2, "total_tokens": 2}


def test_packed_vectors_unpack_to_the_same(ask: Ask) -> None:
    body = {"model": "v", "input": "red fox", "encoding_format": "base64"}
    found: Any = embeddings(ask("/v1/embeddings", body), 4)
    numbers = struct.unpack("<4f", base64.b64decode(found["data"][0]["embedding"]))
    assert numbers == pytest.approx(vector("red fox", 4))


def test_google_asks_for_one_or_for_many(ask: Ask) -> None:
    content = {"content": {"parts": [{"text": "red "}, {"text": "fox"}]}, "outputDimensionality": 3}
    one: Any = embeddings(ask("/v1beta/models/v:embedContent", content), 4)
    many: Any = embeddings(ask("/v1beta/models/v:batchEmbedContents", {"requests": [content, content]}), 4)
    assert one == {"embedding": {"values": vector("red fox", 3)}}
    assert len(many["embeddings"]) == 2
