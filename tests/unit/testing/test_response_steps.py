"""What the server does for an answer, faults included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.testing.faults import (
    Cut,
    CutKind,
    Fault,
    Gate,
    Hangup,
    Insert,
    Refusal,
    SplitUtf8,
    Stall,
    StreamError,
    Trickle,
    WrongType,
)
from marid.testing.response_body import EVENTS, BodyFrame, ScriptedResponse
from marid.testing.response_steps import Drop, Pause, ResponseStep, Send, WaitForGate, response_steps

FRAMES = (
    BodyFrame(data=b"<open>"),
    *(BodyFrame(data=data, piece=True) for data in (b"<a>", b"<b>")),
    BodyFrame(data=b"<end>"),
)


def error_event(refusal: Refusal) -> BodyFrame:
    return BodyFrame(data=b"<" + refusal.kind.encode() + b">")


def streamed(*faults: Fault) -> list[ResponseStep]:
    return response_steps(
        ScriptedResponse(frames=FRAMES, error_event=error_event, kind=EVENTS, stream=True, faults=faults)
    )


def single(*faults: Fault, data: bytes = b"{whole}") -> list[ResponseStep]:
    frame = BodyFrame(data=data, piece=True)
    return response_steps(
        ScriptedResponse(frames=(frame,), error_event=error_event, status=404, headers={"X-Y": "z"}, faults=faults)
    )


def sent(doings: list[ResponseStep]) -> bytes:
    return b"".join(act.data for act in doings if isinstance(act, Send))


def body(doings: list[ResponseStep]) -> list[bytes]:
    """The content of each chunk; the last is empty if the stream ended well."""
    chunks = [act.data.split(b"\r\n", 1) for act in doings if isinstance(act, Send)][1:]
    assert [int(size, 16) for size, _ in chunks] == [len(data) - 2 for _, data in chunks]
    return [data[:-2] for _, data in chunks]


def test_a_stream_goes_out_frame_by_frame_and_ends_well() -> None:
    doings = streamed()
    assert body(doings) == [b"<open>", b"<a>", b"<b>", b"<end>", b""]
    assert sent(doings).startswith(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r"
    )


def test_a_single_body_has_a_length() -> None:
    head = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 7\r\nX-Y: z\r\n\r\n"
    assert single() == [Send(data=head), Send(data=b"{whole}")]


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        (Cut(after=0), []),
        (Cut(after=1), [b"<open>", b"<a>"]),
        (Cut(after=9), [b"<open>", b"<a>", b"<b>", b"<end>"]),
        (Cut(events=1), [b"<open>"]),
        (Cut(bytes=8), [b"<open>", b"<a"]),
        (Cut(bytes=0), []),
    ],
)
def test_a_cut_comes_after_pieces_events_or_bytes(cut: Cut, kept: list[bytes]) -> None:
    doings = streamed(cut)
    assert body(doings) == kept
    assert doings[-1] == Drop()


def test_a_cut_may_be_rude_or_look_like_an_end() -> None:
    assert streamed(Cut(after=1, how="reset"))[-1] == Drop(reset=True)
    clean = streamed(Cut(after=1, how="clean"))
    assert body(clean) == [b"<open>", b"<a>", b""]
    assert Drop() not in clean


@pytest.mark.parametrize(
    ("cut", "length", "kept"),
    [
        (Cut(after=1), b"7", b"{wh"),
        (Cut(events=1), b"7", b"{wh"),
        (Cut(after=0), b"7", b""),
        (Cut(bytes=2), b"7", b"{w"),
        (Cut(bytes=2, how="clean"), b"2", b"{w"),
    ],
)
def test_a_single_body_is_cut_in_its_middle_and_only_a_clean_cut_is_declared(
    cut: Cut, length: bytes, kept: bytes
) -> None:
    head, _, rest = sent(single(cut)).partition(b"\r\n\r\n")
    assert b"Content-Length: " + length + b"\r\n" in head
    assert rest == kept


def test_a_stall_waits_where_it_is_told_to() -> None:
    first, second, third = Gate(), Gate(), Gate()
    doings = streamed(Stall(gate=first, before_headers=True), Stall(gate=second, after=1), Stall(gate=third, after=5))
    assert [place for place, act in enumerate(doings) if isinstance(act, WaitForGate)] == [0, 4, 7]


def test_a_stall_just_before_a_cut_still_happens() -> None:
    gate = Gate()
    assert streamed(Stall(gate=gate, after=1), Cut(after=1))[-2:] == [WaitForGate(gate=gate), Drop()]
    assert WaitForGate(gate=gate) not in streamed(Stall(gate=gate, after=2), Cut(bytes=7))


def test_nothing_goes_out_before_a_hangup() -> None:
    assert streamed(Hangup()) == [Drop()]


def test_inserted_bytes_come_between_and_before_a_cut() -> None:
    assert body(streamed(Insert(data=b"?", after=1))) == [b"<open>", b"<a>", b"?", b"<b>", b"<end>", b""]
    assert body(streamed(Insert(data=b"?", after=1), Cut(after=1))) == [b"<open>", b"<a>", b"?"]
    assert b"Content-Length: 8\r\n" in sent(single(Insert(data=b"?")))


def test_an_error_ends_the_stream_and_takes_the_place_of_a_single_body() -> None:
    assert body(streamed(StreamError(after=1))) == [b"<open>", b"<a>", b"<overloaded>", b""]
    assert sent(single(StreamError(after=1))).endswith(b"\r\n\r\n<overloaded>")


def test_characters_are_split_after_their_first_byte() -> None:
    doings = single(SplitUtf8(), data="aé𝄞b".encode())
    assert [act.data for act in doings[1:] if isinstance(act, Send)] == [b"a\xc3", b"\xa9\xf0", b"\x9d\x84\x9eb"]


def test_a_trickle_rests_after_every_few_bytes() -> None:
    pause = Pause(seconds=0.5)
    doings = single(Trickle(size=4, pause=0.5), SplitUtf8())
    assert doings[1:] == [Send(data=b"{who"), pause, Send(data=b"le}"), pause]


def test_another_type_is_only_said() -> None:
    assert b"Content-Type: text/html\r\n" in sent(streamed(WrongType()))
    assert body(streamed(WrongType())) == body(streamed())


KINDS = st.sampled_from(["close", "reset", "clean"])


@given(st.integers(0, 30), st.integers(1, 5), KINDS, st.booleans())
def test_whatever_the_chunks_a_cut_leaves_so_many_bytes(limit: int, size: int, how: CutKind, split: bool) -> None:
    faults: list[Fault] = [Cut(bytes=limit, how=how), SplitUtf8() if split else Trickle(size=size)]
    whole = b"".join(frame.data for frame in FRAMES)
    assert b"".join(body(streamed(*faults))) == whole[:limit]
