"""OpenAI's dialect as other services speak it."""

import json
from itertools import accumulate, cycle, islice, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.model import finished, play, text_of
from marid.adapters.gateway.chunk_normalizer import ChunkNormalizer, ThinkTagSplitter, ToolCallNumbering, error_message
from marid.core.model_io import ReasoningDelta, ToolCall
from marid.testing import Insert, say


def chunk(delta: object, **more: object) -> dict[str, Any]:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [{"index": 0, "delta": delta, **more}]}


def normalized(normalizer: ChunkNormalizer, event: dict[str, Any]) -> list[dict[str, Any]]:
    """The deltas that replace an event."""
    return [json.loads(data)["choices"][0]["delta"] for data in normalizer.normalize(event)]


def cut(*texts: str) -> list[str]:
    tags = ThinkTagSplitter()
    return [*(piece for text in texts for piece in tags.split(text)), *tags.flush()]


@pytest.mark.parametrize(
    ("texts", "pieces"),
    [
        (["<think>abc", "</think>Hi"], ["<think>", "abc", "</think>", "Hi"]),
        (["<th", "ink>", "a<", "/thi", "nk>\n\nHi"], ["<think>", "a", "</think>", "Hi"]),
        (["<think>a</think>", "\n", "\n Hi", " ", "you"], ["<think>", "a", "</think>", "Hi", " ", "you"]),
        (["\n <think>a</think>b"], ["<think>", "a", "</think>", "b"]),
        (["<think></think>b"], ["<think>", "</think>", "b"]),
        (["<think>a</b>c</", "think", "ing>"], ["<think>", "a</b>c", "</thinking>"]),
        (["<this>", "<think>a</think>"], ["<this>", "<think>a</think>"]),
        (["Hi <think>a"], ["Hi <think>a"]),
        (["<thi"], ["<thi"]),
        ([" \n"], [" \n"]),
    ],
)
def test_tags_at_the_beginning_stand_alone(texts: list[str], pieces: list[str]) -> None:
    assert cut(*texts) == pieces


@given(st.text("<think>/ a\n", max_size=30), st.lists(st.integers(1, 9), min_size=1))
def test_no_character_is_lost_wherever_the_text_is_cut(text: str, sizes: list[int]) -> None:
    ends = list(accumulate(islice(cycle(sizes), len(text))))
    texts = [text[start:end] for start, end in pairwise([0, *ends])]
    whole = "".join(cut(*texts))
    before, close, after = text.lstrip().partition("</think>")
    assert whole == (before + close + (after.lstrip() if close else after) if before.startswith("<think>") else text)
    assert whole == "".join(cut(text))


def test_after_the_start_only_calls_are_normalized() -> None:
    normalizer = ChunkNormalizer()
    assert normalizer.needs_normalizing(b'{"a": 1}')
    assert normalized(normalizer, chunk({"role": "assistant", "content": ""})) == [{"role": "assistant", "content": ""}]
    assert normalized(normalizer, chunk({"content": "Hi"})) == [{"content": "Hi"}]
    assert not normalizer.needs_normalizing(b'{"a": 1}')
    assert normalizer.needs_normalizing(b'{"tool_calls": []}')


@pytest.mark.parametrize("event", [{"choices": []}, {"choices": None}, {"choices": [7]}, chunk(None), chunk([1])])
def test_events_of_another_shape_stay_as_they_are(event: dict[str, Any]) -> None:
    assert [json.loads(data) for data in ChunkNormalizer().normalize(event)] == [event]


def test_what_was_held_back_comes_before_a_call_and_before_the_end() -> None:
    for more in (chunk({"tool_calls": [{"index": 0}]}), chunk({}, finish_reason="stop")):
        normalizer = ChunkNormalizer()
        assert normalized(normalizer, chunk({"content": "<th"})) == [{"content": ""}]
        assert normalized(normalizer, more)[0]["content"] == "<th"
    normalizer = ChunkNormalizer()
    normalized(normalizer, chunk({"content": "<th"}))
    assert normalized(normalizer, chunk({"content": [{"type": "text", "text": "ink>"}]}))[0] == {"content": "<th"}


def numbered(*fragments: dict[str, Any]) -> list[tuple[int, str | None, str | None]]:
    calls = ToolCallNumbering()
    for fragment in fragments:
        calls.normalize(fragment)
    return [(one["index"], one["id"], one["function"] and one["function"]["name"]) for one in fragments]


def fragment(name: str | None = None, **fields: object) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": "{}"}, **fields}


def test_calls_of_one_index_are_distinguished_by_their_ids() -> None:
    assert numbered(
        fragment("one", index=0, id="a"), fragment(index=0), fragment("two", index=0, id="b"), fragment(index=0, id="")
    ) == [(0, "a", "one"), (0, "a", None), (1, "b", "two"), (1, "b", None)]


def test_an_id_that_changes_within_a_call_makes_no_other_call() -> None:
    assert numbered(fragment("one", index=0, id="a"), fragment(index=0, id="b")) == [(0, "a", "one"), (0, "a", None)]


def test_a_name_counts_once_and_may_come_in_pieces() -> None:
    assert numbered(fragment("one", index=0, id="a"), fragment("one", index=0, id="a"))[1][2] is None
    assert numbered(fragment("get_", index=0, id="a"), fragment("tree", index=0))[1][2] == "tree"


def test_calls_without_an_index_are_distinguished_by_id_or_name() -> None:
    assert numbered(fragment("one", id="a"), fragment("one", id="a"), fragment(), fragment("two", id="b")) == [
        (0, "a", "one"),
        (0, "a", None),
        (0, "a", None),
        (1, "b", "two"),
    ]
    assert [number for number, _, _ in numbered(fragment("one"), fragment("one"), {"function": None})] == [0, 1, 1]


def test_an_id_may_be_a_number() -> None:
    assert numbered(fragment("one", index=0, id=5))[0] == (0, "5", "one")


def data(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


@pytest.mark.parametrize("dialect", ["openai", "openrouter"])
def test_unusual_calls_arrive_complete(dialect: Any) -> None:
    odd = data(
        chunk({"tool_calls": [{"index": 0, "id": 7, "function": {"name": "get_tree", "arguments": '{"path"'}}]}),
        chunk({"tool_calls": [{"index": 0, "id": 7, "function": {"name": "get_tree", "arguments": ': "."}'}}]}),
        chunk({"tool_calls": [{"index": 0, "id": 8, "function": {"name": "get_tree", "arguments": "{}"}}]}),
    )
    events, error, _ = play(dialect, say(faults=[Insert(data=odd)]))
    assert error is None
    assert finished(events).reply.calls == (
        ToolCall(id="7", name="get_tree", arguments='{"path": "."}'),
        ToolCall(id="8", name="get_tree", arguments="{}"),
    )


@pytest.mark.parametrize("dialect", ["openai", "openrouter"])
def test_reasoning_between_tags_is_not_text(dialect: Any) -> None:
    events, error, _ = play(dialect, say("<thi", "nk>hm</", "think>", "Hello"))
    assert error is None
    assert text_of(events) == finished(events).reply.text == "Hello"
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "hm"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "a"}}, "a"),
        ([{"error": "b"}], "b"),
        ({"detail": "c"}, "c"),
        ({"error": {"code": 7}}, ""),
        ([], ""),
        (None, ""),
        ("d", "d"),
    ],
)
def test_the_message_of_an_error_is_found_at_any_depth(body: object, message: str) -> None:
    assert error_message(body) == message
