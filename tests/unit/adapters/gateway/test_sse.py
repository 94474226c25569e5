"""Server-sent events, whole and broken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.adapters.gateway.sse import Sieve


def sifted(*pieces: bytes) -> tuple[bytes, Sieve]:
    sieve = Sieve()
    return b"".join([*(sieve.feed(piece) for piece in pieces), sieve.finish()]), sieve


def test_good_events_pass_as_they_are() -> None:
    stream = b'event: x\ndata: {"a": 1}\n\ndata: [DONE]\n\n'
    passed, sieve = sifted(stream)
    assert passed == stream
    assert (sieve.events, sieve.dropped, sieve.ended) == (1, 0, True)


@pytest.mark.parametrize(
    "broken", [b'data: {"a": \n\n', b"data: nonsense\n\n", b"data: [1]\n\n", b"data: \xff\xfe\n\n", b'data: "x"\n\n']
)
def test_a_broken_event_is_left_out_and_the_rest_survives(broken: bytes) -> None:
    passed, sieve = sifted(b'data: {"a": 1}\n\n' + broken + b'data: {"b": 2}\n\n')
    assert passed == b'data: {"a": 1}\n\ndata: {"b": 2}\n\n'
    assert sieve.dropped == 1


def test_comments_and_unknown_lines_are_left_out() -> None:
    passed, sieve = sifted(b': hello\n\nfoo\n\nid: 7\nwhat is this\ndata: {"a": 1}\n\n')
    assert passed == b'id: 7\ndata: {"a": 1}\n\n'
    assert sieve.dropped == 0


def test_every_kind_of_line_end_counts() -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        passed, _ = sifted(b'data:{"a": 1}' + end + end + b'data: {"b": 2}' + end + end)
        assert passed == b'data: {"a": 1}\n\ndata: {"b": 2}\n\n'


def test_an_event_without_its_blank_line_counts_at_the_end() -> None:
    assert sifted(b'data: {"a": 1}')[0] == b'data: {"a": 1}\n\n'
    assert sifted(b'data: {"a": 1}\r')[0] == b'data: {"a": 1}\n\n'
    assert sifted(b'data: {"a":')[0] == b""


def test_two_events_without_a_blank_line_between_are_two() -> None:
    passed, sieve = sifted(b'data: {"a": 1}\ndata: {"b": 2}\n\n')
    assert passed == b'data: {"a": 1}\n\ndata: {"b": 2}\n\n'
    assert sieve.dropped == 0


def test_data_of_several_lines_is_one_event() -> None:
    assert sifted(b'data: {"a":\ndata: 1}\n\n')[0] == b'data: {"a": 1}\n\n'


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
    assert sifted(b"data: " + json.dumps(event).encode() + b"\n\n")[1].ended is ends


def test_a_line_of_ten_megabytes_in_small_pieces_takes_no_long() -> None:
    event = b'data: {"a": "' + b"x" * (10 << 20) + b'"}\n\n'
    passed, _ = sifted(*(event[at : at + 65536] for at in range(0, len(event), 65536)))
    assert passed == event


def test_data_nested_too_deep_is_left_out() -> None:
    assert sifted(b"data: " + b"[" * 200_000 + b"\n\n")[1].dropped == 1


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=3), max_size=5),
    st.lists(st.integers(1, 9), min_size=1),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_where_the_stream_is_cut_into_pieces_changes_nothing(
    events: list[dict[str, str]], sizes: list[int], end: bytes
) -> None:
    stream = b"".join(b"data: " + json.dumps(event, ensure_ascii=False).encode() + end + end for event in events)
    pieces: list[bytes] = []
    at = 0
    while at < len(stream):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(stream[at : at + size])
        at += size
    passed, sieve = sifted(*pieces)
    assert [json.loads(line[6:]) for line in passed.split(b"\n") if line] == events
    assert sieve.events == len(events)
