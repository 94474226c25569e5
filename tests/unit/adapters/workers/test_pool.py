"""A worker may hang, crash, grow or print: that call fails, and the next one does not."""

import gc
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from fakes.outlines import misbehave
from fakes.ports import InlineWorkers
from marid.adapters.workers.pool import ProcessWorkers, Worker, WorkerLimits, load_answers
from marid.adapters.workers.worker_outlines import WorkerOutlines
from marid.core.caller import Caller
from marid.core.errors import BadInput, Exhausted, Unavailable

GOOD = (b"class A:\n", "python")
PID = (b"pid", "python")
INTERRUPTED = """
import sys
from fakes.outlines import misbehave
from marid.adapters.workers.pool import ProcessWorkers
workers = ProcessWorkers()
try:
    print(workers.run(misbehave, b"pid", "python"), flush=True)
    workers.run(misbehave, b"sleep", sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", workers.run(misbehave, b"still fine", "python"), flush=True)
workers.close()
"""


@pytest.fixture
def workers() -> Iterator[ProcessWorkers]:
    with closing(ProcessWorkers(limits=WorkerLimits(timeout=20, max_memory=300 << 20, workers=2))) as real:
        yield real


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def wait_for(path: Path) -> None:
    pause = Event()
    for _ in range(3000):
        if path.exists():
            return
        pause.wait(0.01)
    pytest.fail(f"{path.name} did not come")


@pytest.mark.parametrize("mischief", [b"abort", b"exit", b"flood"])
def test_work_that_kills_its_worker_is_given_up_and_the_next_is_done(workers: ProcessWorkers, mischief: bytes) -> None:
    before = workers.run(misbehave, *PID)
    with pytest.raises(Exhausted, match="given up"):
        workers.run(misbehave, mischief, "python")
    assert workers.run(misbehave, *GOOD) == "class A:"
    assert workers.run(misbehave, *PID) != before


def test_using_too_much_memory_is_reported_and_costs_no_worker(workers: ProcessWorkers) -> None:
    before = workers.run(misbehave, *PID)
    with pytest.raises(Exhausted, match="memory"):
        workers.run(misbehave, b"allocate", "python")
    assert workers.run(misbehave, *PID) == before


def test_a_bug_in_the_work_is_reported_by_its_name(workers: ProcessWorkers) -> None:
    with pytest.raises(RuntimeError, match="misbehave: ValueError: cannot parse this"):
        workers.run(misbehave, b"raise", "python")


@pytest.mark.parametrize("mischief", [b"sleep", b"spin"])
def test_work_that_takes_too_long_is_given_up_and_the_next_is_done(mischief: bytes, tmp_path: Path) -> None:
    with closing(ProcessWorkers(limits=WorkerLimits(timeout=0.5))) as workers:
        with pytest.raises(Exhausted, match=r"more than 0\.5 seconds"):
            workers.run(misbehave, mischief, str(tmp_path / "begun"))
        assert workers.run(misbehave, *GOOD) == "class A:"


def test_a_worker_killed_from_outside_costs_one_call(workers: ProcessWorkers) -> None:
    process = int(workers.run(misbehave, *PID) or "")
    os.kill(process, signal.SIGKILL)
    with pytest.raises(Exhausted):
        workers.run(misbehave, b"x" * 1_000_000, "python")
    assert workers.run(misbehave, *GOOD) == "class A:"


def test_the_worker_sees_neither_our_environment_nor_modules_of_the_current_folder(
    workers: ProcessWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "struct.py").write_text("raise SystemExit('hijacked')")
    monkeypatch.chdir(tmp_path)
    seen = workers.run(misbehave, b"where", "python") or ""
    assert "HOME" not in seen
    assert seen.endswith("False")


def test_close_leaves_no_process_and_may_be_followed_by_more(workers: ProcessWorkers) -> None:
    process = int(workers.run(misbehave, *PID) or "")
    workers.close()
    assert gone(process)
    assert workers.run(misbehave, *GOOD) == "class A:"


def test_a_pool_that_was_not_closed_leaves_no_worker() -> None:
    workers = ProcessWorkers()
    process = int(workers.run(misbehave, *PID) or "")
    del workers
    gc.collect()
    assert gone(process)


def test_close_ends_what_another_thread_waits_for(workers: ProcessWorkers, tmp_path: Path) -> None:
    process = int(workers.run(misbehave, *PID) or "")
    answers: list[object] = []
    work = [(b"sleep", str(tmp_path / "begun"))]
    waiting = Thread(target=lambda: answers.extend(workers.run_all(misbehave, work)))
    waiting.start()
    wait_for(tmp_path / "begun")
    workers.close()
    waiting.join()
    assert isinstance(answers[0], Exhausted)
    assert gone(process)


def test_a_large_batch_is_shared_by_several_workers(workers: ProcessWorkers) -> None:
    large = b"x\n" + bytes(600_000)
    calls = [PID, (large, "python")] * 12
    answers = workers.run_all(misbehave, calls, cost=[len(data) for data, _ in calls])
    assert answers[1::2] == ["x"] * 12
    assert len(set(map(str, answers[::2]))) <= 2


def test_one_worker_serves_many_calls_and_a_small_batch(workers: ProcessWorkers) -> None:
    assert len({workers.run(misbehave, *PID) for _ in range(5)}) == 1
    assert len(set(map(str, workers.run_all(misbehave, [PID] * 6, cost=[3] * 6)))) == 1


def test_one_bad_call_in_a_batch_harms_no_other(workers: ProcessWorkers) -> None:
    calls = [GOOD, (b"abort", "python"), (b"a\n" + bytes(600_000), "python"), (b"refuse", "python"), GOOD]
    answers = workers.run_all(misbehave, calls, cost=[len(data) for data, _ in calls])
    assert [answers[0], answers[2], answers[4]] == ["class A:", "a", "class A:"]
    assert [type(answers[1]), type(answers[3])] == [Exhausted, BadInput]


def test_a_worker_that_dies_at_once_is_reported() -> None:
    with closing(ProcessWorkers(environment={"PYTHONMALLOC": "none of them"})) as workers:
        with pytest.raises(Unavailable, match="before it began"):
            workers.run(misbehave, *GOOD)
        with pytest.raises(Unavailable):
            workers.run_all(misbehave, [(bytes(600_000), "python")] * 4)


def test_a_worker_that_the_system_refuses_is_reported() -> None:
    with closing(ProcessWorkers(environment={"TOO_LONG": "x" * (1 << 22)})) as workers, pytest.raises(Unavailable):
        workers.run(misbehave, *GOOD)


def test_ctrl_c_interrupts_the_wait_and_leaves_no_worker(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    argv = [sys.executable, "-c", INTERRUPTED, str(begun)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, env=environment, text=True) as program:
        wait_for(begun)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
    worker, word = out.split("\n", 1)
    assert (word, err) == ("interrupted still fine\n", "")
    assert gone(int(worker))


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.folder,)


def test_answers_of_plain_values_and_of_our_own_classes_come_back() -> None:
    answers = [("done", {"a": [1, 2.5, None, True, b"x", ("é", frozenset({1}))]}), ("done", Caller(face="cli"))]
    assert load_answers(pickle.dumps(answers)) == answers


@pytest.mark.parametrize("message", [b"", b"garbage", b"\x80\x05", pickle.dumps(eval), pickle.dumps(load_answers)])
def test_a_malformed_message_and_functions_are_not_answers(message: bytes) -> None:
    assert load_answers(message) is None


def test_nothing_is_run_by_unpickling(tmp_path: object) -> None:
    assert load_answers(pickle.dumps([Evil(f"{tmp_path}/pwned")])) is None
    assert os.listdir(str(tmp_path)) == []


def test_a_worker_answers_until_it_is_disposed_of() -> None:
    worker = Worker(WorkerLimits(), {})
    assert worker.ask("os.path", "basename", [(("a/b",), {})], 20) == [("done", "b")]
    worker.dispose()
    assert not worker.alive


@pytest.fixture(scope="module")
def outlines() -> Iterator[WorkerOutlines]:
    with closing(ProcessWorkers(limits=WorkerLimits(timeout=20, max_memory=300 << 20, workers=2))) as workers:
        yield WorkerOutlines(workers, misbehave)


@pytest.mark.parametrize("mischief", [b"abort", b"exit", b"raise", b"refuse", b"recurse", b"allocate"])
def test_a_file_that_is_too_much_for_the_parser_has_no_outline_and_the_next_one_has(
    outlines: WorkerOutlines, mischief: bytes
) -> None:
    assert outlines.outlines([GOOD, (mischief, "python"), GOOD]) == ["class A:", None, "class A:"]


def test_an_outline_that_is_not_valid_text_is_made_valid(outlines: WorkerOutlines) -> None:
    assert outlines.outline(b"surrogate", "python") == "a?b"


def test_a_parser_that_cannot_be_started_is_no_fault_of_the_file() -> None:
    with pytest.raises(Unavailable):
        WorkerOutlines(InlineWorkers(), misbehave).outline(b"unavailable", "python")


def test_the_real_parser_is_the_default() -> None:
    source = b'def shout(text: str) -> str:\n    """Louder."""\n    return text.upper()\n'
    assert "def shout(text: str) -> str" in (WorkerOutlines(InlineWorkers()).outline(source, "python") or "")
