"""Events of an answer: which are passed on, and how those of other dialects are normalized."""

import json
from itertools import accumulate, cycle, islice, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.model import finished, play, text_of
from marid.adapters.gateway.providers import error_message
from marid.adapters.gateway.sse_validator import (
    MAX_EVENT,
    ChunkNormalizer,
    SseValidator,
    ThinkTagSplitter,
    ToolCallNumbering,
)
from marid.core.model_io import ReasoningDelta, ToolCall
from marid.testing import Insert, say


def validate(*pieces: bytes) -> tuple[bytes, SseValidator]:
    validator = SseValidator()
    return b"".join([*(validator.feed(piece) for piece in pieces), validator.finish()]), validator


BROKEN = (b'data: {"a": \n\n', b"data: nonsense\n\n", b"data: [1]\n\n", b"data: \xff\xfe\n\n", b'data: "x"\n\n')


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("end", [b"", b'data: {"c": 3}\n\n'])
def test_a_damaged_event_ends_the_stream_after_what_came_before(broken: bytes, end: bytes) -> None:
    passed, validator = validate(b'data: {"a": 1}\n\n' + broken + b'data: {"b": 2}\n\n', end)
    assert passed == b'data: {"a": 1}\n\n'
    assert validator.fault == "sent an event that is not a JSON object"
    assert validate(broken, end)[0] == b""


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_damaged_after_the_end_does_not_matter(broken: bytes) -> None:
    _, validator = validate(b"data: [DONE]\n\n", broken)
    assert (validator.fault, validator.is_complete) == ("", True)


A, B = b'data: {"a": 1}\n\n', b'data: {"b": 2}\n\n'


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"event: x\n" + A + b"data: [DONE]\n\n", b"event: x\n" + A + b"data: [DONE]\n\n"),
        *((nothing + nothing + A, A) for nothing in (b"data:\n\n", b"data:  \n\n", b": ping\n\n", b"event: ping\n\n")),
        (b": hello\n\nfoo\n\nid: 7\nwhat is this\n" + A, b"id: 7\n" + A),
        *((b'data:{"a": 1}' + end * 2 + B.replace(b"\n", end), A + B) for end in (b"\n", b"\r\n", b"\r")),
        (A.strip(), A),
        (A.strip() + b"\r", A),
        (b'data: {"a":', b""),
        (A.strip() + b"\n" + B, A + B),
        (b'data: {"a":\ndata: 1}\n\n', A),
    ],
)
def test_events_pass_and_comments_unknown_lines_and_events_without_data_do_not(stream: bytes, expected: bytes) -> None:
    passed, validator = validate(stream)
    assert (passed, validator.fault, validator.is_complete) == (expected, "", b"[DONE]" in stream)
    assert validator.has_events == bool(expected)


def test_of_events_without_a_blank_line_between_those_before_a_damaged_one_pass() -> None:
    passed, validator = validate(b'data: {"a": 1}\ndata: {"b"\ndata: {"c": 3}\n\n')
    assert passed == A
    assert validator.fault


@pytest.mark.parametrize(
    ("event", "ends"),
    [
        ({"choices": [{"finish_reason": "stop"}]}, True),
        ({"choices": [{"finish_reason": None}]}, False),
        ({"choices": []}, False),
        ({"choices": [7]}, False),
        ({"choices": "x"}, False),
        ({"candidates": [{"finishReason": "STOP"}]}, True),
        ({"candidates": [{"index": 0}]}, False),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, True),
        ({"type": "message_stop"}, True),
        ({"type": "message_delta"}, False),
    ],
)
def test_it_knows_where_an_answer_ends(event: dict[str, object], ends: bool) -> None:
    assert validate(b"data: " + json.dumps(event).encode() + b"\n\n")[1].is_complete is ends


def test_a_line_of_ten_megabytes_in_small_pieces_passes() -> None:
    event = b'data: {"a": "' + b"x" * (10 << 20) + b'"}\n\n'
    passed, _ = validate(*(event[at : at + 65536] for at in range(0, len(event), 65536)))
    assert passed == event


def test_data_nested_too_deep_is_damaged() -> None:
    assert validate(b"data: " + b"[" * 200_000 + b"\n\n")[1].fault


def test_a_line_without_end_is_given_up() -> None:
    validator = SseValidator()
    piece = b"x" * (1 << 20)
    validator.feed(b'data: {"a": 1}\n\ndata: {"a": "')
    fed = next(number for number in range(1, 100) if validator.feed(piece) == b"" and validator.fault)
    assert fed << 20 <= MAX_EVENT + (1 << 20)
    assert "more than 32 MB" in validator.fault
    assert validator.feed(b'"}\n\n') + validator.finish() == b""


def test_what_was_held_back_comes_before_the_end() -> None:
    def chunk(text: str) -> bytes:
        return b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"

    for end in (b"data: [DONE]\n\n", b""):
        passed, _ = validate(chunk("<thi"), end)
        assert b'"<thi"' in passed


CHUNK = b'data: {"choices": [{"delta": {"content": "half"}}]}\n\n'


@pytest.mark.parametrize(
    "error",
    [
        b'error: {"code": 500, "message": "no compute", "type": "server_error"}\n\n',
        b"error: no compute\n\n",
        b'event: error\ndata: {"message": "no compute"}\n\n',
        b"event: error\ndata: no compute\n\n",
        b'data: {"object": "error", "message": "no compute", "code": 500}\n\n',
        b'data: {"type": "error", "message": "no compute"}\n\n',
    ],
)
def test_an_error_that_clients_do_not_know_ends_the_stream_with_its_message(error: bytes) -> None:
    passed, validator = validate(CHUNK, error, b"data: [DONE]\n\n")
    assert passed == CHUNK
    assert (validator.error_text, bool(validator.fault), validator.began_with_error) == ("no compute", True, False)
    assert validate(error)[1].began_with_error
    assert validate(CHUNK + error + b"data: [DONE]\n\n")[1].error_text == "no compute"


def test_an_error_without_a_message_counts_and_one_after_the_end_does_not() -> None:
    assert validate(b"error:\n\n")[1].error_text == "no reason given"
    assert validate(b"data: [DONE]\n\n", b"error: late\n\n")[1].error_text == ""


def test_an_error_that_clients_know_is_passed_on() -> None:
    for known in (b'event: error\ndata: {"type": "error", "error": {"message": "x"}}\n\n', b'data: {"error": "x"}\n\n'):
        passed, validator = validate(known)
        assert (passed, validator.error_text, validator.began_with_error) == (known, "", True)
        assert not validate(CHUNK, known)[1].began_with_error


def test_an_error_beside_an_empty_choice_is_one_that_came_first() -> None:
    error = b'data: {"choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"message":"x"}}\n\n'
    assert validate(error)[1].began_with_error
    assert not validate(CHUNK, error)[1].began_with_error
    assert not validate(CHUNK)[1].began_with_error


def test_a_byte_order_mark_is_dropped() -> None:
    mark = b"\xef\xbb\xbf"
    for pieces in ((mark + CHUNK,), (mark, CHUNK), (mark[:1], mark[1:] + CHUNK), (mark + CHUNK + CHUNK,)):
        passed, validator = validate(*pieces)
        assert passed == CHUNK * (len(b"".join(pieces)) // len(CHUNK))
        assert validator.fault == ""


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=3), max_size=5),
    st.lists(st.integers(1, 9), min_size=1),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_where_the_stream_is_cut_into_pieces_changes_nothing(
    events: list[dict[str, str]], sizes: list[int], end: bytes
) -> None:
    stream = b"".join(b"data: " + json.dumps(event, ensure_ascii=False).encode() + end + end for event in events)
    ends = list(accumulate(islice(cycle(sizes), len(stream))))
    pieces = [stream[start:end] for start, end in pairwise([0, *ends])]
    passed, validator = validate(*pieces)
    assert [json.loads(line[6:]) for line in passed.split(b"\n") if line] == events
    assert validator.fault == ""


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
    one = fragment("one", index=0, id="a")
    assert numbered(one, fragment(index=0), fragment("two", index=0, id="b"), fragment(index=0, id="")) == [
        *((0, "a", "one"), (0, "a", None), (1, "b", "two"), (1, "b", None))
    ]
    # Within a call an id may change, and a name counts once or comes in pieces.
    assert numbered(one, fragment(index=0, id="b")) == [(0, "a", "one"), (0, "a", None)]
    assert numbered(one, fragment("one", index=0, id="a"))[1][2] is None
    assert numbered(fragment("get_", index=0, id="a"), fragment("tree", index=0))[1][2] == "tree"
    assert numbered(fragment("one", index=0, id=5))[0] == (0, "5", "one")


def test_calls_without_an_index_are_distinguished_by_id_or_name() -> None:
    assert numbered(fragment("one", id="a"), fragment("one", id="a"), fragment(), fragment("two", id="b")) == [
        (0, "a", "one"),
        (0, "a", None),
        (0, "a", None),
        (1, "b", "two"),
    ]
    assert [number for number, _, _ in numbered(fragment("one"), fragment("one"), {"function": None})] == [0, 1, 1]


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
