"""Answers as entries, and back."""

from marid.core.conversation.entry import AGENT, MESSAGE, TOOL_CALL, USER, Entry
from marid.core.model_io import Message, MessagePart, Reasoning, Text, ToolCall, ToolResult
from marid.engine.model_requests import provider_messages
from marid.engine.round_entries import RoundStamp, reply_entries
from marid.engine.turns import parse_turns

STAMP = RoundStamp("talk", "r1")


def entries(*parts: MessagePart, status: str = "ok") -> tuple[Entry, ...]:
    return reply_entries(Message(role="assistant", parts=parts), STAMP, status)


def test_text_beside_calls_is_kept_and_comes_first() -> None:
    call = ToolCall(id="1", name="look", arguments='{"a":')
    first, second = entries(call, Text(text="Look:"))
    assert (first.entry_type, first.content, first.sender, first.to, first.role) == (
        *(MESSAGE, "Look:", "talk", "user"),
        AGENT,
    )
    assert (second.entry_type, second.content, second.to, second.tool_call_id) == (TOOL_CALL, '{"a":', "look", "1")
    assert first.round == second.round == "r1"


def test_blank_words_are_none_and_one_newline_in_front_is_left_out() -> None:
    assert entries(Text(text=" \n"), Reasoning(text="hm")) == ()
    assert [one.content for one in entries(Text(text="\n\n"), Text(text="a"), Text(text=" "))] == ["\na "]


def test_results_are_not_a_models_to_give() -> None:
    assert entries(ToolResult(call_id="1", name="x", text="y")) == ()


def test_thoughts_stand_with_what_followed_them_and_come_back_in_their_order() -> None:
    parts = (
        Reasoning(text="one", seal="s1"),
        Text(text="a", seal="s2"),
        Reasoning(text="two", seal="s3"),
        Text(text="b"),
        Reasoning(text="three", seal="s4"),
        ToolCall(id="1", name="look", arguments="{}", seal="s5"),
        ToolCall(id="2", name="look", arguments="{}"),
    )
    stored = entries(*parts)
    assert [one.metadata for one in stored] == [
        {"thoughts": [{"text": "one", "seal": "s1"}], "seal": "s2"},
        {"thoughts": [{"text": "two", "seal": "s3"}]},
        {"thoughts": [{"text": "three", "seal": "s4"}], "seal": "s5"},
        {},
    ]
    said = Entry(entry_type=MESSAGE, content="hi", role=USER)
    assert provider_messages(parse_turns([said, *stored]))[1].parts == parts


def test_thoughts_before_blank_words_stay_with_what_comes_next() -> None:
    (call,) = entries(Reasoning(text="hm"), Text(text="\n"), ToolCall(id="1", name="look", arguments=""))
    assert call.metadata == {"thoughts": [{"text": "hm"}]}


def test_what_was_thought_first_stands_first_though_words_came_after_the_call() -> None:
    reply = Message(
        role="assistant",
        parts=(Reasoning(text="T1", seal="s"), ToolCall(id="1", name="look", arguments="{}"), Text(text="after")),
    )
    words, made = reply_entries(reply, RoundStamp("c", "r"))
    assert words.metadata["thoughts"] == [{"text": "T1", "seal": "s"}]
    assert "thoughts" not in made.metadata
