"""Whatever stops a writer, at whatever moment: what was acknowledged is there, and the next start works at once."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fakes import writers
from marid.adapters.store.catalogue import FileConversations
from marid.core.entry import MESSAGE, Entry
from marid.core.errors import Unavailable


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(writers.__file__).parents[1]), *sys.path])
    return {**os.environ, "PYTHONPATH": path}


def killed(home: Path, kills: int, seed: int) -> tuple[int, int]:
    command = [sys.executable, writers.__file__, str(home), str(kills), str(seed)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    acknowledged, torn = done.stdout.split()
    return int(acknowledged), int(torn)


def said(text: str) -> Entry:
    return Entry(entry_type=MESSAGE, content=text, sender="user", to="c", role="user")


def test_two_writers_that_are_killed_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged, _ = killed(tmp_path / "home", 15, 1)
    assert acknowledged > 15


@pytest.mark.soak
def test_two_writers_that_are_killed_two_hundred_times_lose_nothing(tmp_path: Path) -> None:
    acknowledged, _ = killed(tmp_path / "home", 200, 2)
    assert acknowledged > 200


@pytest.mark.parametrize(("size", "step"), [(1, 1), (3, 13)])
def test_every_truncation_point_of_the_last_append_is_repaired(tmp_path: Path, size: int, step: int) -> None:
    conversations = FileConversations(str(tmp_path))
    with conversations.open("c", create=True) as held:
        (first,) = held.append([said("first")])
        active = tmp_path / "contexts/c/transcript/active.jsonl"
        before = active.read_bytes()
        held.append([said(f"é{number}") for number in range(size)])
        whole = active.read_bytes()
    for cut in [*range(len(before), len(whole) - 1, step), len(whole) - 1]:
        active.write_bytes(whole[:cut])
        # A reader that comes first sees whole appends only.
        assert len(list(conversations.read("c").entries())) == 2
        with conversations.open("c") as held:
            left = list(held.entries())
            # All but the last end of line is the whole append.
            assert len(left) == (2 + size if cut == len(whole) - 1 else 2)
            assert left[1] == first
            (added,) = held.append([said("next")])
            assert added.sequence == len(left) + 1
            assert list(held.window()) == list(held.entries())
        assert active.read_bytes().startswith(before)
    aside = (tmp_path / "contexts/c/transcript/active.jsonl.torn").read_bytes()
    assert whole[len(before) : len(before) + 20] in aside


FILLING = """
import resource, sys
from marid.adapters.store.catalogue import FileConversations
from marid.core.entry import Entry
from marid.core.errors import Unavailable
conversations = FileConversations(sys.argv[1])
with conversations.open("c", create=True) as held:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    stored = 0
    try:
        while True:
            stored += len(held.append([Entry(entry_type="message", content="x" * 700)] * 2))
    except Unavailable as error:
        print(stored, error)
    try:
        held.write_note("todos", "x" * 30_000)
    except Unavailable as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(held.append([Entry(entry_type="message", content="again")])[0].sequence, held.sequence())
"""


def test_a_full_disk_is_told_and_tears_no_file_and_all_goes_on_when_there_is_room(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FILLING, str(tmp_path)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=True)
    first, second, last = done.stdout.splitlines()
    stored, _, error = first.partition(" ")
    assert "failed: File too large" in error
    assert "todos.md" in second
    assert last == f"{int(stored) + 2} {int(stored) + 2}"
    folder = tmp_path / "contexts/c"
    assert not [path for path in folder.rglob("*") if path.suffix in (".tmp", ".torn")]
    with FileConversations(str(tmp_path)).open("c") as held:
        assert held.problems() == ()
        assert [entry.content for entry in held.entries()][-1] == "again"
        assert held.sequence() == int(stored) + 2
        assert (folder / "context.jsonl").read_bytes().count(b"\n") == held.sequence()


HOLDING = """
import os, sys, time
from marid.adapters.store.catalogue import FileConversations
held = FileConversations(sys.argv[1]).open("c", create=True)
child = os.fork() if sys.argv[2] == "fork" else 1
if child:
    print(child, flush=True)
time.sleep(60)
"""


def test_another_process_is_named_and_taken_over_from_when_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDING, str(tmp_path), "hold"]
    conversations = FileConversations(str(tmp_path))
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "1\n"
        with pytest.raises(Unavailable, match=f"in use by process {child.pid} on "):
            conversations.open("c")
        child.kill()
        child.wait()
        with conversations.open("c") as held:
            assert held.token() == 2


def test_an_orphan_that_inherited_the_lock_keeps_nobody_out(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDING, str(tmp_path), "fork"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        orphan = int(child.stdout.readline())
        child.kill()
        child.wait()
        try:
            with FileConversations(str(tmp_path)).open("c") as held:
                assert held.token() == 2
                held.append([said("mine")])
        finally:
            os.kill(orphan, signal.SIGKILL)
