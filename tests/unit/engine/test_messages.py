"""Whatever the history holds, a provider takes what is made of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.conversation.entry import (
    AGENT,
    FAILED,
    FLOW_CALL,
    FLOW_RESULT,
    INTERRUPTED,
    MESSAGE,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_STARTED,
    USER,
    Entry,
    call_arguments,
)
from marid.core.model_io import Message, Reasoning, Text, ToolCall, ToolResult
from marid.engine.model_requests import CONTINUE_NOTE, LOST_RESULT, OMITTED_NOTE, provider_messages
from marid.engine.turns import parse_turns

SAID = Entry(entry_type=MESSAGE, content="hi", to="c", role=USER)


def answer(text: str, **more: object) -> Entry:
    return Entry(entry_type=MESSAGE, content=text, to="user", role=AGENT)._replace(**more)


def call(id: str = "1", arguments: str = "{}", **more: object) -> Entry:
    return Entry(entry_type=TOOL_CALL, content=arguments, to="look", tool_call_id=id)._replace(**more)


def result(text: str, id: str = "1", status: str = "ok") -> Entry:
    return Entry(entry_type=TOOL_RESULT, content=text, sender="look", tool_call_id=id, status=status)


def made(*entries: Entry) -> tuple[Message, ...]:
    return provider_messages(parse_turns(entries))


def test_a_call_without_a_result_was_interrupted() -> None:
    *_, tool = made(SAID, call(), SAID)[:3]
    assert tool.parts == (ToolResult(call_id="1", name="look", text=LOST_RESULT, failed=True),)
    assert "interrupted" in LOST_RESULT


def test_results_that_failed_say_so() -> None:
    for status in (FAILED, INTERRUPTED):
        (part,) = made(SAID, call(), result("x", status=status))[-1].parts
        assert isinstance(part, ToolResult)
        assert part.failed


def test_blank_words_are_not_sent() -> None:
    assert made(SAID, answer(" \n"), SAID._replace(content="")) == made(SAID)


def test_an_answer_that_broke_off_is_followed_by_the_wish_to_go_on() -> None:
    assert made(SAID, answer("Half", status=FAILED))[-1].text == CONTINUE_NOTE


def test_what_begins_in_the_middle_has_a_beginning() -> None:
    assert made(answer("x"), SAID)[0].text == OMITTED_NOTE


def test_thoughts_and_seals_go_back_while_the_tools_are_at_work() -> None:
    thoughts = [{"text": "hm", "seal": "s1"}]
    words = answer("Look:", metadata={"thoughts": thoughts, "seal": "s2"})
    asked = call(metadata={"thoughts": [{"text": "then", "seal": "s4"}], "seal": "s3"})
    parts = made(SAID, words, asked, result("a"))[1].parts
    assert parts == (
        Reasoning(text="hm", seal="s1"),
        Text(text="Look:", seal="s2"),
        Reasoning(text="then", seal="s4"),
        ToolCall(id="1", name="look", arguments="{}", seal="s3"),
    )


def test_thoughts_of_earlier_rounds_and_those_without_a_seal_stay_here() -> None:
    sealed = answer("a", metadata={"thoughts": [{"text": "hm", "seal": "s"}]})
    assert made(SAID, sealed, SAID)[1].parts == (Text(text="a"),)
    bare = call(metadata={"thoughts": [{"text": "hm"}, "no", {"seal": "s"}], "seal": 3})
    assert made(SAID, bare)[1].parts == (ToolCall(id="1", name="look", arguments="{}"),)
    assert made(SAID, call(metadata={"thoughts": "no list"}))[1].parts == (
        ToolCall(id="1", name="look", arguments="{}"),
    )


def test_thoughts_before_calls_go_back_although_the_user_has_interrupted_them() -> None:
    """A provider that reasons takes no calls without the thoughts that led to them, as long as no answer followed."""
    sealed = call(metadata={"thoughts": [{"text": "hm", "seal": "s"}]})
    first, second = sealed, sealed._replace(tool_call_id="2")
    interrupted = made(SAID, answer("a", metadata=sealed.metadata), SAID, first, result("x"), second, SAID)
    kept = [[part.text for part in one.parts if isinstance(part, Reasoning)] for one in interrupted]
    assert kept == [[], [], [], ["hm"], [], ["hm"], [], []]


def test_arguments_that_are_no_object_go_back_as_one() -> None:
    for text in ("", "[1]", '{"a"', "\ud800"):
        (part,) = made(SAID, call(arguments=text))[1].parts
        assert isinstance(part, ToolCall)
        assert isinstance(json.loads(part.arguments), dict)
        part.arguments.encode()


def test_arguments_are_an_object_or_nothing() -> None:
    assert call_arguments(" ") == {}
    assert call_arguments('{"a": 1}') == {"a": 1}
    assert call_arguments("[1]") is None
    assert call_arguments("[" * 100_000) is None


def test_a_name_that_a_model_has_made_up_is_one_that_services_take() -> None:
    *_, assistant, tool = made(SAID, call(to="functions.look é" + "x" * 99))
    (part,) = tool.parts
    assert isinstance(part, ToolResult)
    assert assistant.calls[0].name == part.name == "functions_look__" + "x" * 48


def test_halves_of_characters_are_not_sent() -> None:
    assert made(SAID._replace(content="a\udcffé"))[0].text == "a?é"


IDS = st.sampled_from(["", "1", "2", "3"])
ENTRIES = st.builds(
    Entry,
    entry_type=st.sampled_from([MESSAGE, TOOL_CALL, TOOL_RESULT, FLOW_CALL, FLOW_RESULT, TOOL_STARTED, "other"]),
    content=st.sampled_from(["", "text", '{"a": 1}', "{"]),
    to=st.sampled_from(["user", "c", "look", ""]),
    role=st.sampled_from(["", USER, AGENT, "system"]),
    tool_call_id=IDS,
    id=st.sampled_from(["", "x", "y"]),
    round=st.sampled_from(["", "r"]),
)


@given(st.lists(ENTRIES, max_size=25))
def test_whatever_the_history_every_call_is_followed_by_its_result(entries: list[Entry]) -> None:
    sent = made(*entries)
    waiting: list[str] = []
    seen: set[str] = set()
    for message in sent:
        results = [part.call_id for part in message.parts if isinstance(part, ToolResult)]
        assert results == waiting
        assert (message.role == "tool") is bool(results)
        waiting = [one.id for one in message.calls]
        assert seen.isdisjoint(waiting)
        assert len(set(waiting)) == len(waiting)
        seen.update(waiting)
        assert message.parts
    assert waiting == []
    assert not sent or (sent[0].role == "user" and sent[-1].role != "assistant")


@pytest.mark.parametrize("text", ['{"path": NaN}', '{"a": [-Infinity]}', '{"a": 1e999}'])
def test_numbers_that_no_json_has_are_unparsable(text: str) -> None:
    """The defect: such a call was sent back as it was, and no service takes that."""
    assert call_arguments(text) is None
    assert call_arguments('{"a": 1.5e3}') == {"a": 1500.0}


def test_an_answer_that_was_gone_on_with_is_one_text() -> None:
    _, reply, _ = made(SAID, answer("The ans", round="r", status=FAILED), answer("wer is 4", round="r"), SAID)
    assert reply.parts == (Text(text="The answer is 4"),)
    _, reply, _ = made(SAID, answer("One.", round="r"), answer("Two.", round="r"), SAID)
    assert reply.parts == (Text(text="One."), Text(text="Two."))
