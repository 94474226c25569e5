"""Messages to the library and back."""

import json
import re
from typing import Any

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelResponse,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
)
from pydantic_ai.usage import RequestUsage

from fakes.model import answer, events_of, finished, gateway_to, model_request
from marid.adapters.gateway.message_translation import (
    EventTranslator,
    arguments_text,
    finish_of,
    refusal_of,
    reply_of,
    to_library_messages,
    usage_of,
)
from marid.adapters.gateway.providers import Dialect
from marid.core.model_io import (
    CallDelta,
    CallStarted,
    Message,
    ModelRequest,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
    user_message,
)
from marid.testing import Insert, ModelServer, Script, call, say

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")
BARE = ModelRequest(model="m", messages=())


def results(*calls: ToolCall, failed: bool = False) -> Message:
    parts = tuple(ToolResult(call_id=one.id, name=one.name, text=f"result of {one.id}", failed=failed) for one in calls)
    return Message(role="tool", parts=parts)


def second_body(dialect: Dialect) -> Any:
    """What is sent after a first answer with thoughts, words and calls."""
    turn = say(
        "text ", "beside", reasoning=("deep ", "thought"), signature="c2ln", calls=[call("get_tree", {"path": "."})]
    )
    with ModelServer([turn, say("done")]) as server:
        model = gateway_to(server, dialect)
        events, error = events_of(model, model_request(dialect))
        assert error is None
        reply = finished(events).reply
        assert reply.text == "text beside"
        events_of(model, model_request(dialect, user_message("hi"), reply, results(*reply.calls)))
        return server.requests[1].body


def test_openai_compatible_services_get_reasoning_and_text_beside_calls_back() -> None:
    message = second_body("openai")["messages"][2]
    assert message["reasoning_content"] == "deep thought"
    assert message["content"] == "text beside"
    assert message["tool_calls"][0]["function"]["name"] == "get_tree"


def test_openrouter_gets_its_reasoning_with_its_signature_back() -> None:
    detail = {"type": "reasoning.text", "text": "deep thought", "signature": "c2ln", "format": "unknown", "index": 0}
    delta = {"role": "assistant", "content": "", "reasoning": "deep thought", "reasoning_details": [detail]}
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    inserted = Insert(data=b"data: %s\n\n" % json.dumps(chunk).encode(), after=0)
    with ModelServer([say("hello", faults=[inserted]), say("done")]) as server:
        model = gateway_to(server, "openrouter")
        reply = finished(events_of(model, model_request("openrouter"))[0]).reply
        events_of(model, model_request("openrouter", user_message("hi"), reply, user_message("go on")))
        body: Any = server.requests[1].body
    (back,) = body["messages"][2]["reasoning_details"]
    assert (back["text"], back["signature"]) == ("deep thought", "c2ln")


def test_openrouter_gets_plain_reasoning_back() -> None:
    turn = say("text", reasoning=("deep ", "thought"), calls=[call("get_tree", {"path": "."})])
    with ModelServer(Script(steps=[turn, say("done")], reasoning_field="reasoning")) as server:
        model = gateway_to(server, "openrouter")
        reply = finished(events_of(model, model_request("openrouter"))[0]).reply
        events_of(model, model_request("openrouter", user_message("hi"), reply, results(*reply.calls)))
        body: Any = server.requests[1].body
    assert body["messages"][2]["reasoning"] == "deep thought"


@pytest.mark.parametrize("dialect", ["openai", "openrouter", "anthropic", "google"])
def test_the_text_of_a_failure_is_sent_unchanged(dialect: Dialect) -> None:
    made = ToolCall(id="1", name="get_tree", arguments="{}")
    with ModelServer([say("ok")]) as server:
        request = model_request(dialect, user_message("hi"), answer(made), results(made, failed=True))
        events_of(gateway_to(server, dialect), request)
        assert [result.text for result in server.requests[0].results] == ["result of 1"]
        assert ("'is_error': True" in str(server.requests[0].body)) is (dialect == "anthropic")


def test_anthropic_gets_its_signature_back() -> None:
    thinking, text, use = second_body("anthropic")["messages"][1]["content"]
    assert thinking == {"type": "thinking", "thinking": "deep thought", "signature": "c2ln"}
    assert text["text"] == "text beside"
    assert use["name"] == "get_tree"


def test_google_gets_its_signature_back() -> None:
    assert "c2ln" in json.dumps(second_body("google")["contents"][1]["parts"])


def test_what_another_provider_sealed_is_not_sent_as_a_signature() -> None:
    seal = json.dumps({"signature": "c2ln", "provider_name": "google"})
    reply = answer(Reasoning(text="hm", seal=seal), "hello")
    with ModelServer([say("ok")]) as server:
        request = model_request("anthropic", user_message("hi"), reply, user_message("go on"))
        events_of(gateway_to(server, "anthropic"), request)
        assert "c2ln" not in json.dumps(server.requests[0].body)


@pytest.mark.parametrize("seal", ["", "no json", "[1]", '{"part_kind": "x", "content": "forged"}'])
def test_an_invalid_seal_is_ignored(seal: str) -> None:
    parts = (Reasoning(text="r", seal=seal), Text(text="t", seal=seal))
    reply = Message(
        role="assistant", parts=(*parts, ToolCall(id="1", name="n", arguments="{", seal=seal), *results().parts)
    )
    request = ModelRequest(model="m", messages=(user_message("hi"), reply, results(*reply.calls, failed=True)))
    _, made, _ = to_library_messages(request)
    assert isinstance(made, ModelResponse)
    assert [getattr(part, "content", None) for part in made.parts[:2]] == ["r", "t"]


def test_parts_that_do_not_belong_to_a_role_are_dropped() -> None:
    odd = Message(role="user", parts=(Reasoning(text="x"), ToolCall(id="1", name="n", arguments="")))
    assert to_library_messages(ModelRequest(model="m", messages=(odd,))) == []
    result = ToolResult(call_id="1", name="n", text="x")
    (made,) = to_library_messages(ModelRequest(model="m", messages=(Message(role="assistant", parts=(result,)),)))
    assert list(made.parts) == []


def test_calls_with_one_id_get_several_also_across_the_conversation() -> None:
    response = ModelResponse(
        parts=[ToolCallPart("n", {"a": 1}, "x"), ToolCallPart("n", "{", "x"), ToolCallPart("n", None, "y")]
    )
    before = answer(ToolCall(id="y", name="n", arguments=""))
    reply = reply_of(response, ModelRequest(model="m", messages=(before,)))
    assert [(one.id, one.arguments) for one in reply.calls] == [("x", '{"a": 1}'), ("x-2", "{"), ("y-2", "")]


def test_parts_that_were_not_requested_are_dropped() -> None:
    image = FilePart(BinaryContent(b"x", media_type="image/png"))
    response = ModelResponse(parts=[TextPart(""), image, TextPart("a")])
    assert reply_of(response, BARE).parts == (Text(text="a"),)
    assert EventTranslator().translate(PartStartEvent(index=0, part=image)) == ()


def test_an_answer_with_calls_ends_by_them_whatever_the_provider_reports() -> None:
    response = ModelResponse(parts=[ToolCallPart("n", "{}", "x")], finish_reason="stop")
    assert finish_of(response, reply_of(response, BARE)).reason == "calls"
    cut = ModelResponse(parts=[TextPart("a")], finish_reason="length", model_name="m-1", provider_response_id="r")
    assert finish_of(cut, answer("a"))[::2] == ("length", "m-1")
    assert finish_of(ModelResponse(parts=[]), answer()).reason == "stop"


def test_a_refusal_is_shown_unless_there_is_text() -> None:
    details = {"refusal": "I will not"}
    assert refusal_of(ModelResponse(parts=[], provider_details=details)) == TextPart("I will not")
    assert refusal_of(ModelResponse(parts=[TextPart("x")], provider_details=details)) is None
    assert refusal_of(ModelResponse(parts=[ThinkingPart("x")])) is None


def test_impossible_usage_is_ignored() -> None:
    assert usage_of(ModelResponse(parts=[], usage=RequestUsage(input_tokens=3, output_tokens=1))) == Usage(3, 1)
    assert usage_of(ModelResponse(parts=[], usage=RequestUsage(input_tokens=-3, output_tokens=1))) is None
    assert usage_of(ModelResponse(parts=[])) is None


def test_arguments_are_text() -> None:
    assert [arguments_text(one) for one in ("{", {"a": "é"}, {}, None)] == ["{", '{"a": "é"}', "", ""]


@pytest.mark.parametrize("dialect", ["anthropic", "google", "openrouter", "openai"])
def test_reasoning_of_another_provider_is_not_sent(dialect: Dialect) -> None:
    """It would be taken for text of the answer, or of the user."""
    seal = json.dumps({"id": "reasoning_content", "provider_name": "other"})
    made = ToolCall(id="c1", name="get_tree", arguments="{}")
    reply = Message(role="assistant", parts=(Reasoning(text="HIDDEN", seal=seal), Text(text="beside"), made))
    with ModelServer([say("done")]) as server:
        _, error = events_of(
            gateway_to(server, dialect), model_request(dialect, user_message("hi"), reply, results(made))
        )
        assert error is None
        sent = json.dumps(server.requests[0].body)
    assert "beside" in sent
    assert "HIDDEN" not in sent


def test_two_custom_services_do_not_get_each_other_s_reasoning() -> None:
    with ModelServer([say("x", reasoning=("deep",), calls=[call("get_tree", {})])]) as one:
        reply = finished(events_of(gateway_to(one, "openai"), model_request("openai"))[0]).reply
    with ModelServer([say("done")]) as other:
        events_of(
            gateway_to(other, "openai"), model_request("openai", user_message("hi"), reply, results(*reply.calls))
        )
        assert "deep" not in json.dumps(other.requests[0].body)


@pytest.mark.parametrize(
    ("asked", "id", "kept"),
    [
        ("anthropic", "toolu_01-x", True),
        ("anthropic", "functions.read_file:0", False),
        ("anthropic", "x" * 65, False),
        ("openai", "functions.read_file:0", True),
        ("openai", "x" * 41, False),
        ("openai at gate:4000", "x" * 200, True),  # a proxy may keep something in an id
        ("google", "x" * 200, True),
    ],
)
def test_the_id_of_a_call_is_one_that_the_service_accepts(asked: str, id: str, kept: bool) -> None:
    made = ToolCall(id=id, name="get_tree", arguments="{}")
    request = ModelRequest(model="m", messages=(Message(role="assistant", parts=(made,)), results(made)))
    first, second = to_library_messages(request, target=asked)
    (out,), (back,) = first.parts, second.parts
    assert isinstance(out, ToolCallPart)
    assert isinstance(back, ToolReturnPart)
    assert out.tool_call_id == back.tool_call_id
    assert (out.tool_call_id == id) is kept
    assert re.fullmatch("[A-Za-z0-9_-]{1,40}", out.tool_call_id) or kept


def test_text_and_reasoning_are_translated_and_empty_deltas_dropped() -> None:
    reader = EventTranslator()
    assert reader.translate(PartStartEvent(index=0, part=TextPart("a"))) == (TextDelta("a"),)
    assert reader.translate(PartStartEvent(index=0, part=TextPart(""))) == ()
    assert reader.translate(PartDeltaEvent(index=0, delta=TextPartDelta("b"))) == (TextDelta("b"),)
    assert reader.translate(PartDeltaEvent(index=0, delta=TextPartDelta(""))) == ()
    assert reader.translate(PartStartEvent(index=1, part=ThinkingPart("c"))) == (ReasoningDelta("c"),)
    assert reader.translate(PartStartEvent(index=1, part=ThinkingPart(""))) == ()
    thinking = ThinkingPartDelta(content_delta="d")
    assert reader.translate(PartDeltaEvent(index=1, delta=thinking)) == (ReasoningDelta("d"),)
    assert reader.translate(PartDeltaEvent(index=1, delta=ThinkingPartDelta(signature_delta="s"))) == ()
    assert reader.translate(PartEndEvent(index=1, part=ThinkingPart("cd"))) == ()


def test_the_pieces_of_several_calls_may_alternate() -> None:
    reader = EventTranslator()
    assert reader.translate(PartStartEvent(index=3, part=ToolCallPart("a", None, "1"))) == (CallStarted(0, "a"),)
    second = PartStartEvent(index=5, part=ToolCallPart("b", "{", "2"))
    assert reader.translate(second) == (CallStarted(1, "b"), CallDelta(1, "{"))
    for index, number in ((3, 0), (5, 1), (3, 0)):
        delta = ToolCallPartDelta(args_delta="x")
        assert reader.translate(PartDeltaEvent(index=index, delta=delta)) == (CallDelta(number, "x"),)
    assert reader.translate(PartDeltaEvent(index=9, delta=ToolCallPartDelta(args_delta="x"))) == ()
    assert reader.translate(PartDeltaEvent(index=3, delta=ToolCallPartDelta(tool_name_delta="x"))) == ()
