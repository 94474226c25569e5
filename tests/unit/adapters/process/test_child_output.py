import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.adapters.process.child_output import BoundedOutput, ChildMonitor, ChildOutput, RunOptions
from marid.adapters.process.process_tree import start_process_tree
from marid.adapters.sandbox.bubblewrap import LaunchSpec


def bounded(max_bytes: int, *chunks: bytes) -> BoundedOutput:
    output = BoundedOutput(max_bytes)
    for chunk in chunks:
        output.add(chunk)
    return output


@pytest.mark.parametrize(
    ("max_bytes", "chunks", "text", "dropped"),
    [
        (10, [b"hello", b"world"], "helloworld", 0),
        (8, [b"abcdef", b"ghijkl", b"mnop"], "abcd\n[... 8 bytes left out ...]\nmnop", 8),
        (8, ["äöü€ 12345 €uro".encode()], "äö\n[... 14 bytes left out ...]\nuro", 14),
        (10, [b"a\xff\xfeb"], "a��b", 0),
    ],
    ids=["it fits", "the middle is dropped", "no character is split", "invalid UTF-8 is replaced"],
)
def test_output_keeps_its_start_and_its_end(max_bytes: int, chunks: list[bytes], text: str, dropped: int) -> None:
    output = bounded(max_bytes, *chunks)
    assert (output.text(), output.dropped_bytes) == (text, dropped)


def test_the_end_of_endless_output_stays_small() -> None:
    output = bounded(1000, *[b"x" * 700] * 100)
    assert output.dropped_bytes == 69_000
    assert len(output.text()) < 1100


def test_added_bytes_come_back_as_whole_characters_until_the_limit() -> None:
    output = BoundedOutput(10)
    chunks = ("€".encode()[:1], "€".encode()[1:], b"12345678", b"more")
    assert [output.add(data) for data in chunks] == ["", "€", "12345678", ""]


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(2, 60).map(lambda n: 2 * n))
def test_what_is_kept_does_not_depend_on_the_chunks(chunks: list[bytes], max_bytes: int) -> None:
    whole = bounded(max_bytes, b"".join(chunks))
    parts = bounded(max_bytes, *chunks)
    assert (parts.text(), parts.dropped_bytes) == (whole.text(), whole.dropped_bytes)
    assert whole.dropped_bytes == max(0, len(b"".join(chunks)) - max_bytes)


def watch(script: str, options: RunOptions | None = None) -> ChildOutput:
    launch = LaunchSpec(argv=("/bin/sh", "-c", script))
    with start_process_tree(launch, cwd="/", env={"PATH": os.defpath}) as tree:
        return ChildMonitor(tree, options or RunOptions()).read_until_end()


def test_both_streams_are_read_to_their_ends() -> None:
    seen = watch("echo out; echo err >&2")
    assert (seen.end_reason, seen.streams["out"].text(), seen.streams["err"].text()) == ("", "out\n", "err\n")


def test_more_than_a_pipe_holds_is_read() -> None:
    seen = watch("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2")
    assert [len(stream.text()) for stream in seen.streams.values()] == [300_000, 300_000]


def test_a_grandchild_puts_the_end_off_for_a_second_only() -> None:
    begun = time.monotonic()
    seen = watch("sleep 100 & echo done")
    assert (seen.end_reason, seen.streams["out"].text()) == ("", "done\n")
    assert 1.0 <= time.monotonic() - begun < 30.0


def test_endless_output_is_reported_up_to_the_limit_and_ended_by_the_timeout() -> None:
    reported: list[str] = []
    seen = watch("yes", RunOptions(on_output=lambda _, text: reported.append(text), timeout=0.2, max_output=10))
    assert (seen.end_reason, len(reported)) == ("time", 1)
    assert seen.streams["out"].dropped_bytes > 0


def test_output_is_reported_with_the_name_of_its_stream() -> None:
    reported: list[tuple[str, str]] = []
    options = RunOptions(on_output=lambda name, text: reported.append((name, text)))
    watch("echo out; sleep 0.05; echo err >&2", options)
    assert reported == [("out", "out\n"), ("err", "err\n")]


def test_the_caller_can_stop_it() -> None:
    answers = iter([False, False, True])
    assert watch("sleep 100", RunOptions(stopped=lambda: next(answers))).end_reason == "stopped"


def test_too_many_processes_end_it() -> None:
    script = "i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i+1)); done; wait"
    assert watch(script, RunOptions(max_processes=20)).end_reason == "crowd"
