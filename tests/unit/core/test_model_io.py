"""Values of a conversation with a model."""

import pytest

from marid.core.model_io import (
    ForcedTool,
    Message,
    ModelRequest,
    Parameters,
    Reasoning,
    ReasoningOptions,
    Text,
    ToolCall,
    ToolOffer,
    ToolResult,
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


def test_every_key_has_its_parameter() -> None:
    table = {
        "temperature": 1, "max_tokens": 5, "top_p": 0.5, "stop": ("a",), "tool_choice": "none",
        "parallel_tool_calls": False, "frequency_penalty": 1, "presence_penalty": -1, "seed": 3,
        "response_format": {"type": "text"}, "prompt_caching": False, "reasoning": {"effort": "low", "exclude": True},
    }  # fmt: skip
    assert Parameters.from_table(table) == Parameters(
        temperature=1.0, max_tokens=5, top_p=0.5, stop=("a",), tool_choice="none", parallel_tool_calls=False,
        frequency_penalty=1.0, presence_penalty=-1.0, seed=3, response_format={"type": "text"}, prompt_caching=False,
        reasoning=ReasoningOptions(effort="low", exclude=True),
    )  # fmt: skip


def test_one_tool_may_be_chosen() -> None:
    table = {"tool_choice": {"type": "function", "function": {"name": "grep_files"}}}
    assert Parameters.from_table(table).tool_choice == ForcedTool("grep_files")


@pytest.mark.parametrize(
    ("table", "thinking"),
    [
        ({"enabled": True}, ReasoningOptions(enabled=True, effort="medium")),
        ({"enabled": True, "effort": "high"}, ReasoningOptions(enabled=True, effort="high")),
        ({"enabled": False}, ReasoningOptions(enabled=False)),
        ({"effort": "high", "max_tokens": 7}, ReasoningOptions(max_tokens=7)),
        ({"enabled": True, "max_tokens": 7}, ReasoningOptions(enabled=True, max_tokens=7)),
    ],
)
def test_of_effort_and_tokens_the_latter_counts_and_enabled_alone_is_medium(
    table: dict[str, object], thinking: ReasoningOptions
) -> None:
    assert Parameters.from_table({"reasoning": table}).reasoning == thinking
