"""Turns and when they are said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.testing.faults import Hangup, rate_limited
from marid.testing.script import ConditionalStep, ScriptedUsage, Turn, always, call, say, when


def test_pieces_are_kept_apart_and_a_single_thought_is_one_piece() -> None:
    turn = say("a", "b", reasoning="so", usage=None, finish="length", signature="s", faults=[Hangup()])
    assert turn == Turn(
        text=("a", "b"), reasoning=("so",), usage=None, finish="length", signature="s", faults=(Hangup(),)
    )


def test_to_say_nothing_is_an_empty_turn_with_some_usage() -> None:
    assert say() == Turn()
    assert say().usage == ScriptedUsage()


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


def test_arguments_are_written_as_json_and_a_text_stays_as_it_is() -> None:
    assert call("f", {"a": "é"}).arguments == '{"a": "é"}'
    assert call("f", '{"a').arguments == '{"a'


def test_a_step_may_wait_for_its_request() -> None:
    step = when(lambda request: request.model == "m", rate_limited(), kind="models", times=2)
    assert (step.kind, step.times, step.step) == ("models", 2, rate_limited())
    assert isinstance(always(say("a")), ConditionalStep)
    assert always(say("a")).times is None


@pytest.mark.parametrize(("text", "value"), [('{"a": 1}', {"a": 1}), ('{"a": ', '{"a": '), ("[1]", "[1]")])
def test_arguments_that_are_not_a_json_object_stay_text(text: str, value: object) -> None:
    assert call("x", text).parsed_arguments == value
