"""Turns, and which step comes next."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.testing.faults import rate_limited
from marid.testing.request import Request
from marid.testing.script import ScriptQueue, Turn, call, say, when

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
