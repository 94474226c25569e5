"""A worker may hang, crash, grow or chatter: the file has no outline, and the next one has."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from marid.adapters.outline_workers import TARGET, Limits, OutlineWorkers
from marid.core.errors import Unavailable

GOOD = (b"class A:\n", "python")
INTERRUPTED = """
import sys
from marid.adapters.outline_workers import OutlineWorkers
workers = OutlineWorkers(target="fakes.outlines:misbehave")
try:
    print(workers.outline(b"pid", "python"), flush=True)
    workers.outline(b"sleep", sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", workers.outline(b"still fine", "python"), flush=True)
workers.close()
"""


@pytest.fixture
def workers() -> Iterator[OutlineWorkers]:
    limits = Limits(seconds=20, memory=300 << 20, workers=2)
    with OutlineWorkers(target="fakes.outlines:misbehave", limits=limits) as real:
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


@pytest.mark.parametrize("mischief", [b"abort", b"exit", b"raise", b"allocate", b"flood"])
def test_a_file_that_kills_the_worker_has_no_outline_and_the_next_one_has(
    workers: OutlineWorkers, mischief: bytes
) -> None:
    before = workers.outline(b"pid", "python")
    assert workers.outline(mischief, "python") is None
    assert workers.outline(*GOOD) == "class A:"
    assert workers.outline(b"pid", "python") != before


@pytest.mark.parametrize("mischief", [b"sleep", b"spin"])
def test_a_file_that_takes_too_long_has_no_outline_and_the_next_one_has(mischief: bytes, tmp_path: Path) -> None:
    with OutlineWorkers(target="fakes.outlines:misbehave", limits=Limits(seconds=0.2)) as workers:
        assert workers.outline(mischief, str(tmp_path / "begun")) is None
        assert workers.outline(*GOOD) == "class A:"


def test_what_a_parser_prints_does_no_harm(workers: OutlineWorkers) -> None:
    assert workers.outline(b"print", "python") == "read ''"
    assert workers.outline(*GOOD) == "class A:"


def test_an_outline_that_is_no_text_becomes_text(workers: OutlineWorkers) -> None:
    assert workers.outline(b"surrogate", "python") == "a?b"


def test_one_worker_serves_many_files(workers: OutlineWorkers) -> None:
    assert len({workers.outline(b"pid", "python") for _ in range(5)}) == 1


def test_a_worker_killed_from_outside_costs_one_file(workers: OutlineWorkers) -> None:
    process = int(workers.outline(b"pid", "python") or "")
    os.kill(process, signal.SIGKILL)
    answers = [workers.outline(b"x" * 1_000_000, "python"), workers.outline(*GOOD)]
    assert answers == [None, "class A:"]


def test_the_worker_sees_neither_our_environment_nor_modules_of_the_current_folder(
    workers: OutlineWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "struct.py").write_text("raise SystemExit('hijacked')")
    monkeypatch.chdir(tmp_path)
    seen = workers.outline(b"where", "python") or ""
    assert "HOME" not in seen
    assert seen.endswith("False")


def test_an_environment_may_be_given() -> None:
    with OutlineWorkers(target="fakes.outlines:misbehave", environment={"MARID_TRIED": "1"}) as workers:
        assert "MARID_TRIED" in (workers.outline(b"where", "python") or "")


def test_close_leaves_no_process_and_may_be_followed_by_more(workers: OutlineWorkers) -> None:
    process = int(workers.outline(b"pid", "python") or "")
    workers.close()
    assert gone(process)
    assert workers.outline(*GOOD) == "class A:"


def test_a_forgotten_worker_goes_with_whoever_had_it() -> None:
    workers = OutlineWorkers(target="fakes.outlines:misbehave")
    process = int(workers.outline(b"pid", "python") or "")
    del workers
    gc.collect()
    assert gone(process)


def test_close_ends_what_another_thread_waits_for(workers: OutlineWorkers, tmp_path: Path) -> None:
    process = int(workers.outline(b"pid", "python") or "")
    answers: list[str | None] = []
    waiting = Thread(target=lambda: answers.append(workers.outline(b"sleep", str(tmp_path / "begun"))))
    waiting.start()
    wait_for(tmp_path / "begun")
    workers.close()
    waiting.join()
    assert answers == [None]
    assert gone(process)


def test_a_large_batch_is_shared_by_several_workers(workers: OutlineWorkers) -> None:
    large = b"x\n" + bytes(600_000)
    answers = workers.outlines([(b"pid", "python"), (large, "python")] * 12)
    assert answers[1::2] == ["x"] * 12
    assert len(set(answers[::2])) <= 2


def test_a_small_batch_starts_one_worker(workers: OutlineWorkers) -> None:
    assert len(set(workers.outlines([(b"pid", "python")] * 6))) == 1


def test_one_bad_file_in_a_batch_harms_no_other(workers: OutlineWorkers) -> None:
    items = [GOOD, (b"abort", "python"), (b"a\n" + bytes(600_000), "python"), (b"exit", "python"), GOOD]
    assert workers.outlines(items) == ["class A:", None, "a", None, "class A:"]


@pytest.mark.parametrize("target", ["no_such_module:f", "fakes.outlines:no_such_function"])
def test_a_worker_that_cannot_load_its_parser_is_reported(target: str) -> None:
    with OutlineWorkers(target=target) as workers:
        with pytest.raises(Unavailable, match=r"does not start: .*no.such"):
            workers.outline(*GOOD)
        with pytest.raises(Unavailable):
            workers.outlines([(bytes(600_000), "python")] * 4)


def test_a_worker_that_dies_at_once_is_reported() -> None:
    with OutlineWorkers(limits=Limits(memory=1000)) as workers, pytest.raises(Unavailable, match="before it began"):
        workers.outline(*GOOD)


def test_a_worker_that_the_system_refuses_is_reported() -> None:
    with OutlineWorkers(environment={"TOO_LONG": "x" * (1 << 22)}) as workers, pytest.raises(Unavailable):
        workers.outline(*GOOD)


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


def test_the_real_parser_is_the_default() -> None:
    module, function = TARGET.split(":")
    with OutlineWorkers() as workers:
        outline = workers.outline(
            b'def shout(text: str) -> str:\n    """Louder."""\n    return text.upper()\n', "python"
        )
    assert (module, function) == ("marid.syntax.outline", "outline")
    assert "def shout(text: str) -> str" in (outline or "")
