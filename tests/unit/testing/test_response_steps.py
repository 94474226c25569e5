"""The steps that send a response, faults included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.testing.faults import Cut, CutKind, Fault, Gate, Insert, Refusal, SplitUtf8, Stall, StreamError, Trickle
from marid.testing.response_steps import BodyFrame, Drop, ResponseStep, ScriptedResponse, response_steps

FRAMES = (BodyFrame(b"<open>"), BodyFrame(b"<a>", piece=True), BodyFrame(b"<b>", piece=True), BodyFrame(b"<end>"))


def error_event(refusal: Refusal) -> BodyFrame:
    return BodyFrame(b"<" + refusal.kind.encode() + b">")


def streamed(*faults: Fault) -> list[ResponseStep]:
    return response_steps(ScriptedResponse(frames=FRAMES, error_event=error_event, stream=True, faults=faults))


def single(*faults: Fault, data: bytes = b"{whole}") -> list[ResponseStep]:
    frame = BodyFrame(data, piece=True)
    return response_steps(
        ScriptedResponse(frames=(frame,), error_event=error_event, status=404, headers={"X-Y": "z"}, faults=faults)
    )


def sent(steps: list[ResponseStep]) -> bytes:
    return b"".join(step for step in steps if isinstance(step, bytes))


def body(steps: list[ResponseStep]) -> list[bytes]:
    """The content of each chunk; the last is empty if the stream ended well."""
    chunks = [step.split(b"\r\n", 1) for step in steps if isinstance(step, bytes)][1:]
    assert [int(size, 16) for size, _ in chunks] == [len(data) - 2 for _, data in chunks]
    return [data[:-2] for _, data in chunks]


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
    steps = streamed(cut)
    assert body(steps) == kept
    assert steps[-1] == Drop()


def test_a_cut_may_reset_the_connection_or_look_like_an_end() -> None:
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


def test_a_stall_waits_at_its_place() -> None:
    first, second, third = Gate(), Gate(), Gate()
    steps = streamed(Stall(gate=first, before_headers=True), Stall(gate=second, after=1), Stall(gate=third, after=5))
    assert [index for index, step in enumerate(steps) if isinstance(step, Gate)] == [0, 4, 7]


def test_a_stall_just_before_a_cut_still_happens() -> None:
    gate = Gate()
    assert streamed(Stall(gate=gate, after=1), Cut(after=1))[-2:] == [gate, Drop()]
    assert gate not in streamed(Stall(gate=gate, after=2), Cut(bytes=7))


def test_inserted_bytes_come_between_and_before_a_cut() -> None:
    assert body(streamed(Insert(data=b"?", after=1))) == [b"<open>", b"<a>", b"?", b"<b>", b"<end>", b""]
    assert body(streamed(Insert(data=b"?", after=1), Cut(after=1))) == [b"<open>", b"<a>", b"?"]
    assert b"Content-Length: 8\r\n" in sent(single(Insert(data=b"?")))


def test_an_error_ends_the_stream_and_takes_the_place_of_a_single_body() -> None:
    assert body(streamed(StreamError(after=1))) == [b"<open>", b"<a>", b"<overloaded>", b""]
    assert sent(single(StreamError(after=1))).endswith(b"\r\n\r\n<overloaded>")


def test_a_trickle_pauses_after_every_few_bytes() -> None:
    steps = single(Trickle(size=4, pause=0.5), SplitUtf8())
    assert steps[1:] == [b"{who", 0.5, b"le}", 0.5]


KINDS = st.sampled_from(["close", "reset", "clean"])


@given(st.integers(0, 30), st.integers(1, 5), KINDS, st.booleans())
def test_a_cut_at_a_byte_does_not_depend_on_the_chunks(limit: int, size: int, how: CutKind, split: bool) -> None:
    faults: list[Fault] = [Cut(bytes=limit, how=how), SplitUtf8() if split else Trickle(size=size)]
    whole = b"".join(frame.data for frame in FRAMES)
    assert b"".join(body(streamed(*faults))) == whole[:limit]
