"""The worker's side, in process where that is harmless and as a process where it is not."""

import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from threading import Thread

import pytest

from marid.adapters.workers.child import READY, TOO_MUCH, answer_calls, dump_answers, receive, send, serve
from marid.adapters.workers.fork_pool import ForkPool
from marid.core.errors import Unavailable
from marid.ports.job_pool import OutputJob, OutputPart

MOST = 1 << 20


def question(*calls: tuple[object, ...], name: str = "misbehave") -> bytes:
    return pickle.dumps(("fakes.outlines", name, [(call, {}) for call in calls]))


def frame(message: bytes) -> bytes:
    return len(message).to_bytes(4, "big") + message


def run(script: bytes, *arguments: str, path: Sequence[str] = ()) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-P", "-m", "marid.adapters.workers.child", *arguments]
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
    send(ask, question((b"def f():\n  1", "python"), (b"x", "none")))
    send(ask, question(("é\n".encode(), "python")))
    os.close(ask)
    serve(source, sink, cpu_seconds=3600)
    os.close(sink)
    said = [receive(hear, max_size=MOST) for _ in range(4)]
    assert said[0] == READY
    assert [pickle.loads(answer or b"") for answer in said[1:3]] == [
        [("done", "def f():"), ("done", None)],
        [("done", "é")],
    ]
    assert said[3] is None
    os.close(source)
    os.close(hear)


@pytest.mark.parametrize(
    ("work", "answer"),
    [
        (b"refuse", ("failed", ("bad_input", "line 3 is wrong"))),
        (b"recurse", ("failed", ("exhausted", TOO_MUCH))),
        (b"raise", ("broken", "misbehave: ValueError: cannot parse this")),
    ],
)
def test_an_exception_is_an_answer(work: bytes, answer: tuple[str, object]) -> None:
    assert answer_calls(question((work, "python"))) == [answer]


class OldEnum(Enum):
    """Pickled as Python 3.11.2 pickles every enum."""

    MEMBER = "value"

    def __reduce_ex__(self, proto: object) -> tuple[object, ...]:
        return getattr, (type(self), self.name)


def test_a_member_of_an_enum_is_sent_without_a_function_to_call() -> None:
    message = dump_answers([("done", OldEnum.MEMBER)])
    assert b"getattr" not in message
    assert pickle.loads(message) == [("done", OldEnum.MEMBER)]


def test_the_process_ends_when_its_input_does() -> None:
    done = run(b"", str(1 << 30), "9")
    assert (done.returncode, done.stdout, done.stderr) == (0, frame(READY), b"")


@pytest.mark.parametrize(
    ("work", "memory", "answer"),
    [(b"print", 1 << 30, ("done", "read ''")), (b"allocate", 300 << 20, ("failed", ("exhausted", TOO_MUCH)))],
    ids=["output is not part of the answer", "memory is limited"],
)
def test_work_cannot_disturb_the_answer(work: bytes, memory: int, answer: object) -> None:
    done = run(frame(question((work, "python"))), str(memory), "9")
    assert done.stderr == b""
    assert pickle.loads(done.stdout[len(frame(READY)) + 4 :]) == [answer]


def test_endless_work_is_ended_by_the_system_if_by_nothing_else() -> None:
    done = run(frame(question((b"spin", "python"))), str(1 << 30), "0")
    assert (done.returncode, done.stdout) == (-signal.SIGXCPU, frame(READY))


def test_a_system_without_limits_works_too(tmp_path: Path) -> None:
    (tmp_path / "resource.py").write_text("raise ImportError")
    done = run(frame(question((b"x = 1\n", "python"))), str(1 << 30), "9", path=[str(tmp_path)])
    assert pickle.loads(done.stdout[len(frame(READY)) + 4 :]) == [("done", "x = 1")]


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    source, sink = os.pipe()
    yield source, sink
    for descriptor in (source, sink):
        with suppress(OSError):
            os.close(descriptor)


@pytest.mark.parametrize("message", [b"", b"x", bytes(range(256))])
def test_a_message_arrives(pipe: tuple[int, int], message: bytes) -> None:
    source, sink = pipe
    send(sink, message)
    send(sink, b"next")
    assert [receive(source, max_size=1000), receive(source, max_size=1000)] == [message, b"next"]


def test_a_message_larger_than_the_pipe_arrives(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    message = os.urandom(3_000_000)
    writer = Thread(target=send, args=(sink, message))
    writer.start()
    assert receive(source, max_size=1 << 30) == message
    writer.join()


@pytest.mark.parametrize("piece", [b"", b"\0\0", b"\0\0\0\5", b"\0\0\0\5four"])
def test_a_pipe_that_closes_gives_none(pipe: tuple[int, int], piece: bytes) -> None:
    source, sink = pipe
    os.write(sink, piece)
    os.close(sink)
    assert receive(source, max_size=1000) is None


def test_a_message_that_is_too_long_is_not_waited_for(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    os.write(sink, b"\xff\xff\xff\xff")
    assert receive(source, max_size=1000) is None


@pytest.mark.parametrize("piece", [b"", b"\0\0\0\5four"])
def test_a_message_that_does_not_come_in_time_is_given_up(pipe: tuple[int, int], piece: bytes) -> None:
    source, sink = pipe
    os.write(sink, piece)
    with pytest.raises(TimeoutError):
        receive(source, max_size=1000, deadline=time.monotonic() + 0.01)


def test_a_message_that_is_not_taken_in_time_is_given_up(pipe: tuple[int, int]) -> None:
    os.set_blocking(pipe[1], False)
    with pytest.raises(TimeoutError):
        send(pipe[1], bytes(1_000_000), deadline=time.monotonic() + 0.01)


def test_what_is_already_there_is_taken_even_after_the_deadline(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    send(sink, b"x")
    assert receive(source, max_size=1000, deadline=time.monotonic() - 1) == b"x"


def test_writing_without_a_reader_is_an_os_error(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    os.close(source)
    with pytest.raises(BrokenPipeError):
        send(sink, b"x")


def _fine() -> Iterator[OutputPart]:
    yield OutputPart([b"fine"])


def _dies() -> Iterator[OutputPart]:
    yield OutputPart([b"half"])
    os._exit(9)


def _raises() -> Iterator[OutputPart]:
    yield OutputPart([b"half"])
    raise ValueError("broken")


@pytest.mark.parametrize("bad", [_dies, _raises])
def test_a_helper_that_stops_early_is_an_error(bad: OutputJob, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unavailable, match="helper process"):
        list(ForkPool(1).run_jobs([_fine, bad]))
    assert capfd.readouterr().out == ""


def test_what_goes_wrong_here_is_raised_here() -> None:
    with pytest.raises(ValueError, match="broken"):
        list(ForkPool(1).run_jobs([_raises, _fine]))


def test_a_helper_works_in_another_process() -> None:
    def mine() -> Iterator[OutputPart]:
        yield OutputPart([], str(os.getpid()).encode())

    pids = {part.notes for part in ForkPool(2).run_jobs([mine, mine, mine]) if part.notes}
    assert len(pids) == 3
    assert str(os.getpid()).encode() in pids
