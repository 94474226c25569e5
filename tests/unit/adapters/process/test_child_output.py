import os
import time

from marid.adapters.process.child_output import ChildMonitor, ChildOutput, RunCallbacks, RunLimits
from marid.adapters.process.process_tree import start_process_tree
from marid.adapters.sandbox.bubblewrap import LaunchSpec


def watched(
    script: str, *, seconds: float = 20.0, output: int = 1000, processes: int = 1000, hooks: RunCallbacks
) -> ChildOutput:
    launch = LaunchSpec(argv=("/bin/sh", "-c", script))
    with start_process_tree(launch, cwd="/", env={"PATH": os.defpath}) as family:
        return ChildMonitor(
            family, RunLimits(timeout=seconds, max_output=output, max_processes=processes), hooks
        ).read_until_end()


def test_both_streams_are_read_to_their_ends() -> None:
    seen = watched("echo out; echo err >&2", hooks=RunCallbacks())
    assert (seen.end_reason, seen.streams["out"].text(), seen.streams["err"].text()) == ("", "out\n", "err\n")


def test_more_than_a_pipe_holds_is_read() -> None:
    seen = watched("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2", output=1_000_000, hooks=RunCallbacks())
    assert [len(stream.text()) for stream in seen.streams.values()] == [300_000, 300_000]


def test_a_grandchild_puts_the_end_off_for_a_second_only() -> None:
    begun = time.monotonic()
    seen = watched("sleep 100 & echo done", hooks=RunCallbacks())
    assert (seen.end_reason, seen.streams["out"].text()) == ("", "done\n")
    assert 1.0 <= time.monotonic() - begun < 30.0


def test_the_time_limit_holds_while_it_prints_without_end() -> None:
    seen = watched("yes", seconds=0.2, hooks=RunCallbacks())
    assert seen.end_reason == "time"
    assert seen.streams["out"].dropped_bytes > 0


def test_whoever_watches_is_told_which_stream_it_was() -> None:
    told: list[tuple[str, str]] = []
    watched(
        "echo out; sleep 0.05; echo err >&2", hooks=RunCallbacks(on_output=lambda name, text: told.append((name, text)))
    )
    assert told == [("out", "out\n"), ("err", "err\n")]


def test_nobody_is_told_more_than_is_kept() -> None:
    told: list[str] = []
    watched("yes", seconds=0.2, output=10, hooks=RunCallbacks(on_output=lambda _, text: told.append(text)))
    assert len(told) == 1


def test_it_is_stopped_when_somebody_says_so() -> None:
    answers = iter([False, False, True])
    assert watched("sleep 100", hooks=RunCallbacks(stopped=lambda: next(answers))).end_reason == "stopped"


def test_a_crowd_is_noticed() -> None:
    script = "i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i+1)); done; wait"
    assert watched(script, processes=20, hooks=RunCallbacks()).end_reason == "crowd"
