"""OpenAI's dialect as others speak it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.model import asking, events_of, finished, gateway_to, text_of
from marid.adapters.gateway.chunk_normalizer import ChunkNormalizer, ThinkTagSplitter, ToolCallNumbering, error_message
from marid.core.model_io import ReasoningDelta, ToolCall
from marid.testing import Insert, ModelServer, say


def chunk(delta: object, **more: object) -> dict[str, Any]:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [{"index": 0, "delta": delta, **more}]}


def mended(mender: ChunkNormalizer, event: dict[str, Any]) -> list[dict[str, Any]]:
    """The deltas that stand for an event."""
    return [json.loads(data)["choices"][0]["delta"] for data in mender.normalize(event)]


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
def test_no_letter_is_lost_wherever_the_text_is_cut(text: str, sizes: list[int]) -> None:
    texts: list[str] = []
    at = 0
    while at < len(text):
        texts.append(text[at : at + sizes[len(texts) % len(sizes)]])
        at += len(texts[-1])
    whole = "".join(cut(*texts))
    before, close, after = text.lstrip().partition("</think>")
    assert whole == (before + close + (after.lstrip() if close else after) if before.startswith("<think>") else text)
    assert whole == "".join(cut(text))


def test_after_the_beginning_nothing_is_looked_at_but_calls() -> None:
    mender = ChunkNormalizer()
    assert mender.needs_normalizing(b'{"a": 1}')
    assert mended(mender, chunk({"role": "assistant", "content": ""})) == [{"role": "assistant", "content": ""}]
    assert mended(mender, chunk({"content": "Hi"})) == [{"content": "Hi"}]
    assert not mender.needs_normalizing(b'{"a": 1}')
    assert mender.needs_normalizing(b'{"tool_calls": []}')


@pytest.mark.parametrize("event", [{"choices": []}, {"choices": None}, {"choices": [7]}, chunk(None), chunk([1])])
def test_events_of_another_shape_stay_as_they_are(event: dict[str, Any]) -> None:
    assert [json.loads(data) for data in ChunkNormalizer().normalize(event)] == [event]


def test_what_was_held_back_comes_before_a_call_and_before_the_end() -> None:
    for more in (chunk({"tool_calls": [{"index": 0}]}), chunk({}, finish_reason="stop")):
        mender = ChunkNormalizer()
        assert mended(mender, chunk({"content": "<th"})) == [{"content": ""}]
        assert mended(mender, more)[0]["content"] == "<th"
    mender = ChunkNormalizer()
    mended(mender, chunk({"content": "<th"}))
    assert mended(mender, chunk({"content": [{"type": "text", "text": "ink>"}]}))[0] == {"content": "<th"}


def numbered(*fragments: dict[str, Any]) -> list[tuple[int, str | None, str | None]]:
    calls = ToolCallNumbering()
    for fragment in fragments:
        calls.normalize(fragment)
    return [(one["index"], one["id"], one["function"] and one["function"]["name"]) for one in fragments]


def fragment(name: str | None = None, **fields: object) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": "{}"}, **fields}


def test_calls_of_one_index_are_told_apart_by_their_ids() -> None:
    assert numbered(
        fragment("one", index=0, id="a"), fragment(index=0), fragment("two", index=0, id="b"), fragment(index=0, id="")
    ) == [(0, "a", "one"), (0, "a", None), (1, "b", "two"), (1, "b", None)]


def test_an_id_that_changes_within_a_call_makes_no_other_call() -> None:
    assert numbered(fragment("one", index=0, id="a"), fragment(index=0, id="b")) == [(0, "a", "one"), (0, "a", None)]


def test_a_name_counts_once_and_may_come_in_pieces() -> None:
    assert numbered(fragment("one", index=0, id="a"), fragment("one", index=0, id="a"))[1][2] is None
    assert numbered(fragment("get_", index=0, id="a"), fragment("tree", index=0))[1][2] == "tree"


def test_calls_without_an_index_are_told_apart_by_id_or_name() -> None:
    assert numbered(fragment("one", id="a"), fragment("one", id="a"), fragment(), fragment("two", id="b")) == [
        (0, "a", "one"),
        (0, "a", None),
        (0, "a", None),
        (1, "b", "two"),
    ]
    assert [number for number, _, _ in numbered(fragment("one"), fragment("one"), {"function": None})] == [0, 1, 1]


def test_a_number_is_an_id_as_good_as_any() -> None:
    assert numbered(fragment("one", index=0, id=5))[0] == (0, "5", "one")


def data(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


@pytest.mark.parametrize("dialect", ["openai", "openrouter"])
def test_odd_calls_reach_the_caller_whole(dialect: Any) -> None:
    odd = data(
        chunk({"tool_calls": [{"index": 0, "id": 7, "function": {"name": "get_tree", "arguments": '{"path"'}}]}),
        chunk({"tool_calls": [{"index": 0, "id": 7, "function": {"name": "get_tree", "arguments": ': "."}'}}]}),
        chunk({"tool_calls": [{"index": 0, "id": 8, "function": {"name": "get_tree", "arguments": "{}"}}]}),
    )
    with ModelServer([say(faults=[Insert(data=odd)])]) as server:
        events, error = events_of(gateway_to(server, dialect), asking(dialect))
    assert error is None
    assert finished(events).reply.calls == (
        ToolCall(id="7", name="get_tree", arguments='{"path": "."}'),
        ToolCall(id="8", name="get_tree", arguments="{}"),
    )


@pytest.mark.parametrize("dialect", ["openai", "openrouter"])
def test_thoughts_between_tags_are_no_words(dialect: Any) -> None:
    with ModelServer([say("<thi", "nk>hm</", "think>", "Hello")]) as server:
        events, error = events_of(gateway_to(server, dialect), asking(dialect))
    assert error is None
    assert text_of(events) == finished(events).reply.text == "Hello"
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "hm"


@pytest.mark.parametrize(
    ("body", "words"),
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
def test_the_words_of_an_error_are_found_wherever_they_are(body: object, words: str) -> None:
    assert error_message(body) == words
