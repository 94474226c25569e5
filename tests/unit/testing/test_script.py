"""Turns, and which step comes next."""

import json
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.testing import scriptfile
from marid.testing.faults import (
    Cut,
    Fault,
    Gate,
    Hangup,
    Insert,
    Refusal,
    SplitUtf8,
    Stall,
    StreamError,
    Trickle,
    WrongType,
    comment,
    malformed_event,
    rate_limited,
)
from marid.testing.request import Request
from marid.testing.script import (
    ConditionalStep,
    Script,
    ScriptedModel,
    ScriptedUsage,
    ScriptQueue,
    Turn,
    call,
    say,
    when,
)
from marid.testing.scriptfile import FAULTS, read_script

Ask = Callable[..., Request]


def test_a_turn_ends_as_its_content_suggests_unless_it_says_how() -> None:
    assert say("a").finish_reason == "stop"
    assert say(calls=[call("f")]).finish_reason == "tool_calls"
    assert say(calls=[call("f")], finish="length").finish_reason == "length"


def test_calls_without_an_id_get_one_that_no_other_request_gets() -> None:
    turn = say(calls=[call("f"), call("f", id="mine"), call("f")])
    assert turn.ids(3) == ["call_3_0", "mine", "call_3_2"]


@given(st.text(), st.integers(-1, 50))
def test_fragments_make_up_the_arguments(text: str, pieces: int) -> None:
    fragments = call("f", text, pieces=pieces).fragments()
    assert "".join(fragments) == text
    assert len(fragments) <= max(1, pieces)
    assert "" not in fragments


@pytest.mark.parametrize(("text", "value"), [('{"a": 1}', {"a": 1}), ('{"a": ', '{"a": '), ("[1]", "[1]")])
def test_arguments_that_are_not_a_json_object_stay_text(text: str, value: object) -> None:
    assert call("x", text).parsed_arguments == value


def test_steps_are_played_in_order_until_there_are_no_more(ask: Ask) -> None:
    queue = ScriptQueue([say("a"), rate_limited()])
    assert queue.steps_left == 2
    assert [queue.next(ask()) for _ in range(3)] == [say("a"), rate_limited(), None]
    queue.add(say("b"))
    assert queue.next(ask()) == say("b")


def test_a_repeated_script_begins_again(ask: Ask) -> None:
    queue = ScriptQueue([say("a"), say("b")], repeat=True)
    assert [queue.next(ask()) for _ in range(5)] == [say("a"), say("b"), say("a"), say("b"), say("a")]


def test_steps_for_certain_requests_come_first_and_only_so_often(ask: Ask) -> None:
    queue = ScriptQueue([say("other"), when(lambda request: request.model == "m", say("mine"), times=2)])
    assert queue.next(ask("openai", {"model": "x"})) == say("other")
    assert [queue.next(ask()) for _ in range(3)] == [say("mine"), say("mine"), None]


def test_only_replies_take_steps_in_order_and_other_kinds_must_be_named(ask: Ask) -> None:
    queue = ScriptQueue([say("a"), when(lambda _: True, rate_limited(), kind="models")])
    listing = ask("/v1/models", method="GET")
    assert [queue.next(listing), queue.next(listing), queue.next(ask("/v1/embeddings"))] == [rate_limited(), None, None]
    assert queue.steps_left == 1


def test_a_function_reacts_to_the_request(ask: Ask) -> None:
    def react(request: Request) -> Turn:
        return say(request.model)

    queue = ScriptQueue([react, when(lambda request: request.model == "x", react)])
    assert queue.next(ask("openai", {"model": "x"})) == say("x")
    assert queue.next(ask()) == say("m")


def test_threads_never_get_the_same_step(ask: Ask) -> None:
    queue, request = ScriptQueue([say(str(number)) for number in range(400)]), ask()
    with ThreadPoolExecutor(4) as threads:
        steps = set(threads.map(queue.next, [request] * 400))
    assert len(steps) == 400


def read(**fields: Any) -> Script:
    return read_script(json.dumps(fields))


def test_the_example_in_the_documentation_is_a_script(ask: Ask) -> None:
    text = textwrap.dedent((scriptfile.__doc__ or "").split("\n\n")[1])
    script = read_script(text)
    big = ScriptedModel(id="big", context=200_000, output=8192, name="Big")
    assert script.models == [ScriptedModel(id="tiny"), big]
    assert (script.reasoning_field, script.dimensions) == ("reasoning", 8)
    assert (script.key, script.repeat) == ("only-this-one", True)
    *plain, last = script.steps
    assert plain == [
        say("a reply in one piece"),
        say("in ", "pieces", reasoning=["I ", "see"], finish="length", usage=ScriptedUsage(input=9, output=2)),
        say(calls=[call("get_tree", {"path": "."}, id="call_1", pieces=3)]),
        say("slow", faults=[Trickle(size=4, pause=0.05)]),
        Refusal(kind="rate_limit", retry_after=1),
        Refusal(kind="server", status=502, message="why"),
    ]
    assert isinstance(last, ConditionalStep)
    assert last.times is None
    asking = ask("openai", {"messages": [{"role": "user", "content": "who said it?"}]})
    assert (last.predicate(asking), last.predicate(ask())) == (True, False)


def test_a_match_without_always_holds_once() -> None:
    (step,) = read(turns=[{"text": "a", "match": "b", "usage": None}]).steps
    assert isinstance(step, ConditionalStep)
    assert (step.times, step.step) == (1, say("a", usage=None))


def test_every_fault_can_be_named() -> None:
    named: dict[str, tuple[dict[str, Any], Fault]] = {
        "cut": ({"events": 2, "how": "reset"}, Cut(events=2, how="reset")),
        "hangup": ({}, Hangup()),
        "insert": ({"data": "é", "after": 1}, Insert(data="é".encode(), after=1)),
        "malformed": ({"after": 1}, malformed_event(after=1)),
        "comment": ({"text": "t"}, comment("t")),
        "stream_error": ({"error": "rate_limit", "after": 2}, StreamError(refusal=Refusal(kind="rate_limit"), after=2)),
        "split_utf8": ({}, SplitUtf8()),
        "trickle": ({}, Trickle()),
        "wrong_type": ({"kind": "text/plain"}, WrongType(kind="text/plain")),
    }
    assert {*named, "stall"} == set(FAULTS)
    turn = {"text": "a", "faults": [{name: fields} for name, (fields, _) in named.items()]}
    assert read(turns=[turn]).steps[0] == say("a", faults=[fault for _, fault in named.values()])
    (stalling,) = read(turns=[{"faults": [{"stall": {"after": 3}}]}]).steps
    assert "Stall(" in repr(stalling)
    assert Stall(gate=Gate(), after=3).after == 3


def fault(name: str, **fields: Any) -> dict[str, Any]:
    return {"turns": [{"faults": [{name: fields}]}]}


def turn(**fields: Any) -> dict[str, Any]:
    return {"turns": [fields]}


INT, LEAST, TEXT = "Input should be a valid integer", "Input should be greater than or equal to", "a valid string"
INVALID: list[tuple[Any, str]] = [
    ({"steps": ["hi"]}, "use `turns`"),
    ({"turns": [], "steps": ["hi"]}, "use `turns`"),
    ([], "the script: an object is expected"),
    ({"turns": {}}, "turns: a list is expected"),
    ({"turns": [1]}, r"turns\[0\]: an object is expected"),
    ({"turn": []}, "^turn: Unexpected keyword argument"),
    ({"key": 5}, f"^key: Input should be {TEXT}"),
    ({"strict": "yes"}, "^strict: Input should be a valid boolean"),
    ({"dimensions": 10**9}, "^dimensions: Input should be less than or equal to 100000"),
    ({"models": [{"name": "n"}]}, r"models\[0\].id: Field required"),
    (turn(texts="a"), r"turns\[0\].texts: Unexpected keyword argument"),
    (turn(text=1), r"turns\[0\].text: Input should be a valid array"),
    (turn(text=["a", 1]), rf"turns\[0\].text: Input should be {TEXT}"),
    (turn(text="a", match=5), rf"turns\[0\].match: Input should be {TEXT}"),
    (turn(text="a", always=1), r"turns\[0\].always: Input should be a valid boolean"),
    (turn(usage={"in": 1}), r"turns\[0\].usage: Unexpected keyword argument"),
    (turn(usage={"input": "x"}), rf"turns\[0\].usage: {INT}"),
    (turn(calls=[{}]), r"turns\[0\].calls\[0\].name: Missing required argument"),
    (turn(calls=[{"name": 5}]), rf"calls\[0\].name: Input should be {TEXT}"),
    (turn(calls=[{"name": "f", "arguments": [1]}]), r"calls\[0\].arguments: Input should be an object"),
    (turn(calls=[{"name": "f", "pieces": 0}]), rf"calls\[0\].pieces: {LEAST} 1"),
    (turn(error="odd"), r"turns\[0\].error: 'odd' is not one of rate_limit, "),
    (turn(error="server", status="x"), rf"turns\[0\].status: {INT}"),
    (turn(error="server", status=99999), r"turns\[0\].status: Input should be less than or equal to 599"),
    (turn(error="server", retry_after="a\r\nb: c"), r"turns\[0\].retry_after: "),
    (turn(error="server", headers={"a": 1}), rf"turns\[0\].headers: Input should be {TEXT}"),
    (turn(error="server", headers={"a\nb": "c"}), r"turns\[0\].headers: String should match"),
    (turn(faults=[{}]), r"turns\[0\].faults\[0\]: one name"),
    (fault("odd"), r"turns\[0\].faults\[0\]: one name is expected, of stall, "),
    (fault("cut", after="x"), rf"turns\[0\].faults\[0\].cut.after: {INT}"),
    (fault("cut", after=-1), f"cut.after: {LEAST} 0"),
    (fault("cut", after=True), f"cut.after: {INT}"),
    (fault("cut", events=1.5), f"cut.events: {INT}"),
    (fault("cut", how="rudely"), "cut.how: Input should be 'close', 'reset' or 'clean'"),
    (fault("cut", how=[]), "cut.how: Input should be 'close'"),
    (fault("insert", data=5), "insert.data: Input should be a valid bytes"),
    (fault("trickle", size=0), f"trickle.size: {LEAST} 1"),
    (fault("trickle", pause=float("nan")), "trickle.pause: Input should be less than or equal to 86400"),
    (fault("trickle", pause="y"), "trickle.pause: Input should be a valid number"),
    (fault("wrong_type", kind="a\r\nb: c"), "wrong_type.kind: String should match"),
    (fault("stall", gate=5), "stall.gate: "),
    (fault("stream_error", after=-1), f"stream_error.after: {LEAST} 0"),
]


@pytest.mark.parametrize(("script", "message"), INVALID)
def test_an_error_names_its_place_and_says_what_is_expected(script: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_script(json.dumps(script))


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"turns": ["\\ud800"]}'])
def test_a_text_that_is_not_json_is_not_a_script(text: str) -> None:
    with pytest.raises(BadInput, match="the script is not JSON"):
        read_script(text)
