"""The worker's side, in process where that is harmless and as a process where it is not."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fakes.outlines import first_line
from marid.adapters.frames import receive, send
from marid.adapters.outline_child import READY, load, serve

MOST = 1 << 20


def frame(message: bytes) -> bytes:
    return len(message).to_bytes(4, "big") + message


def run(script: bytes, *arguments: str, path: Sequence[str] = ()) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-P", "-m", "marid.adapters.outline_child", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, *sys.path])}
    return subprocess.run(argv, input=script, capture_output=True, env=environment, timeout=60, check=False)


@pytest.fixture
def unlimited() -> Iterator[None]:
    """Serving sets a limit for the process that serves, which here is ours."""
    before = resource.getrlimit(resource.RLIMIT_CPU)
    yield
    resource.setrlimit(resource.RLIMIT_CPU, before)


@pytest.mark.usefixtures("unlimited")
def test_questions_are_answered_until_the_pipe_closes() -> None:
    (source, ask), (hear, sink) = os.pipe(), os.pipe()
    for language, data in ((b"python", b"def f():\n  1"), (b"none", b"x"), (b"python", "é\n".encode())):
        send(ask, language)
        send(ask, data)
    os.close(ask)
    serve(source, sink, first_line, cpu_seconds=3600)
    os.close(sink)
    answers = [receive(hear, most=MOST) for _ in range(5)]
    assert answers == [READY, b"+def f():", b"-", "+é".encode(), None]
    os.close(source)
    os.close(hear)


@pytest.mark.usefixtures("unlimited")
def test_a_question_cut_short_is_not_answered() -> None:
    (source, ask), (hear, sink) = os.pipe(), os.pipe()
    send(ask, b"python")
    os.close(ask)
    serve(source, sink, first_line, cpu_seconds=3600)
    os.close(sink)
    assert [receive(hear, most=MOST), receive(hear, most=MOST)] == [READY, None]
    os.close(source)
    os.close(hear)


def test_a_target_is_found_by_name() -> None:
    assert load("fakes.outlines:first_line") is first_line


def test_the_process_ends_when_its_input_does() -> None:
    done = run(b"", "fakes.outlines:first_line", str(1 << 30), "9")
    assert (done.returncode, done.stdout, done.stderr) == (0, frame(READY), b"")


@pytest.mark.parametrize("name", ["no_such_module:f", "fakes.outlines:no_such_function"])
def test_a_target_that_is_not_there_is_said(name: str) -> None:
    done = run(b"", name, str(1 << 30), "9")
    assert done.returncode == 0
    assert name.encode() in done.stdout


def test_what_the_parser_prints_is_no_part_of_the_answer() -> None:
    done = run(frame(b"python") + frame(b"print"), "fakes.outlines:misbehave", str(1 << 30), "9")
    assert (done.stdout, done.stderr) == (frame(READY) + frame(b"+read ''"), b"")


def test_a_parser_without_end_is_ended_by_the_system_when_nobody_else_does() -> None:
    done = run(frame(b"python") + frame(b"spin"), "fakes.outlines:misbehave", str(1 << 30), "0")
    assert (done.returncode, done.stdout) == (-signal.SIGXCPU, frame(READY))


def test_memory_ends_at_the_limit() -> None:
    done = run(frame(b"python") + frame(b"allocate"), "fakes.outlines:misbehave", str(300 << 20), "9")
    assert (done.returncode, done.stdout) == (1, frame(READY))


def test_a_system_without_limits_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "resource.py").write_text("raise ImportError")
    arguments = ("fakes.outlines:first_line", str(1 << 30), "9")
    done = run(frame(b"python") + frame(b"x = 1\n"), *arguments, path=[str(tmp_path)])
    assert (done.returncode, done.stdout) == (0, frame(READY) + frame(b"+x = 1"))
