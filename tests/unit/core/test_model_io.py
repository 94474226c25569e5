"""Values of a conversation with a model."""

from marid.core.model_io import (
    CallReady,
    Finished,
    Message,
    ModelRequest,
    Reasoning,
    ReasoningDelta,
    ReplyDraft,
    Text,
    TextDelta,
    ToolCall,
    ToolOffer,
    ToolResult,
    Usage,
    estimate_tokens,
    message_tokens,
    request_tokens,
    user_message,
)

CALL = ToolCall(id="1", name="get_tree", arguments="{}")


def test_a_message_tells_its_words_from_its_calls() -> None:
    message = Message(role="assistant", parts=(Reasoning(text="hm"), Text(text="a"), CALL, Text(text="b")))
    assert message.text == "ab"
    assert message.calls == (CALL,)


def test_what_a_user_says_is_a_message() -> None:
    assert user_message("hi") == Message(role="user", parts=(Text(text="hi"),))


def test_a_draft_keeps_words_and_thoughts_apart_and_in_order() -> None:
    draft = ReplyDraft()
    for event in (ReasoningDelta("h"), ReasoningDelta("m"), TextDelta("a"), CallReady(0, CALL), TextDelta("b")):
        draft.add(event)
    draft.add(Usage(1, 1))
    draft.add(Finished("stop", user_message("")))
    assert draft.message().parts == (Reasoning(text="hm"), Text(text="ab"))


def test_an_empty_draft_is_an_empty_answer() -> None:
    assert ReplyDraft().message() == Message(role="assistant", parts=())


def test_four_bytes_are_about_a_token() -> None:
    assert estimate_tokens() == 0
    assert estimate_tokens("abcd", "e") == 2
    assert estimate_tokens("日本語") == 3
    assert estimate_tokens("\ud800") == 1


def test_a_request_counts_everything_that_is_sent() -> None:
    bare = ModelRequest(model="m", messages=(user_message("x" * 40),))
    assert request_tokens(bare) == 10
    parts = (CALL, ToolResult(call_id="1", name="get_tree", text="y" * 400))
    offer = ToolOffer(name="get_tree", description="z" * 400, schema={"type": "object"})
    full = ModelRequest(model="m", messages=(Message(role="tool", parts=parts),), system="s" * 400, tools=(offer,))
    assert request_tokens(full) > 300
    assert message_tokens(Message(role="assistant", parts=(Reasoning(text="abcd"), CALL))) == 4
