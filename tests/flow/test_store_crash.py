"""Whatever stops a writer, at whatever moment: what was acknowledged is there, and the next start works at once."""

import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from fakes import killed_writers
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import MESSAGE, Entry
from marid.core.errors import Unavailable


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(killed_writers.__file__).parents[1]), *sys.path])
    return {**os.environ, "PYTHONPATH": path}


def started(script: str, *args: object) -> subprocess.Popen[str]:
    command, pipe = [sys.executable, "-c", script, *map(str, args)], subprocess.PIPE
    return subprocess.Popen(command, env=environment(), text=True, stdin=pipe, stdout=pipe, stderr=pipe)


def killed(home: Path, kills: int, seed: int) -> tuple[int, int]:
    command = [sys.executable, killed_writers.__file__, str(home), str(kills), str(seed)]
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
        # Every second time there was room behind the line.
        active.write_bytes(whole[:cut] + b"\t" * (3000 * (cut % 2)))
        # All but the last end of line is the whole append, and a reader that comes first sees whole appends only.
        kept = 2 + size if cut == len(whole) - 1 else 2
        assert len(list(conversations.read("c").entries())) == kept
        with conversations.open("c") as held:
            left = list(held.entries())
            assert len(left) == kept
            assert left[1] == first
            (added,) = held.append([said("next")])
            assert added.sequence == len(left) + 1
            assert list(held.window()) == list(held.entries())
        assert active.read_bytes().startswith(before)
    aside = (tmp_path / "contexts/c/transcript/active.jsonl.torn").read_bytes()
    assert whole[len(before) : len(before) + 20] in aside


FILLING = """
import resource, sys
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import Entry
from marid.core.errors import Unavailable
conversations = FileConversations(sys.argv[1])
with conversations.open("c", create=True) as held:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    stored = 0
    try:
        while True:
            stored += len(held.append([Entry(entry_type="message", content="x" * int(sys.argv[2]))] * 2))
    except Unavailable as error:
        print(stored, error)
    try:
        held.write_note("todos", "x" * 30_000)
    except Unavailable as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(held.append([Entry(entry_type="message", content="again")])[0].sequence, held.sequence())
"""


@pytest.mark.parametrize("length", [700, 50])
def test_a_full_disk_is_told_and_tears_no_file_and_all_goes_on_when_there_is_room(tmp_path: Path, length: int) -> None:
    first, second, last = started(FILLING, tmp_path, length).communicate(timeout=60)[0].splitlines()
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


TALKING = """
import sys
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.records import StorageSettings
from marid.core.conversation.entry import Entry
# A new partition would begin without room.
one = StorageSettings(partition_max_entries=10**9, partition_max_tokens=10**9)
with FileConversations(sys.argv[1]).open("c", one, create=True) as held:
    while True:
        print(held.append([Entry(entry_type="message", content="x" * 300)] * 2)[-1].sequence, flush=True)
"""


def test_one_who_is_killed_while_there_is_room_behind_the_lines_loses_nothing(tmp_path: Path) -> None:
    conversations = FileConversations(str(tmp_path))
    active = tmp_path / "contexts/c/transcript/active.jsonl"
    for number in range(4):
        with started(TALKING, tmp_path) as child:
            assert child.stdout is not None
            told = [child.stdout.readline() for _ in range(40 + 7 * number)]
            child.kill()
            told += child.stdout.read().splitlines(keepends=True)
        last = [int(line) for line in told if line.endswith("\n")][-1]
        assert active.read_bytes().endswith(b"\t")
        seen = [entry.sequence for entry in conversations.read("c").entries()]
        assert seen == list(range(1, len(seen) + 1))
        assert len(seen) >= last
        with conversations.open("c") as held:
            assert held.sequence() >= last
            assert held.sequence() % 2 == 1
            assert list(held.window()) == list(held.entries())
            assert all("interrupted write" in problem for problem in held.problems())
        assert active.read_bytes().endswith(b"}\n")


HOLDING = """
import os, sys, time
from marid.adapters.store.conversations import FileConversations
held = FileConversations(sys.argv[1]).open("c", create=True)
child = os.fork() if sys.argv[2] == "fork" else 1
if child:
    print(child, flush=True)
time.sleep(60)
"""


def test_another_process_is_named_and_taken_over_from_when_it_is_killed(tmp_path: Path) -> None:
    conversations = FileConversations(str(tmp_path))
    with started(HOLDING, tmp_path, "hold") as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "1\n"
        with pytest.raises(Unavailable, match=f"in use by process {child.pid} on "):
            conversations.open("c")
        former = conversations.holder("c")
        child.kill()
        child.wait()
        with conversations.open("c") as held:
            assert former is not None
            assert held.fencing_token() == former.token + 1


def test_an_orphan_that_inherited_the_lock_keeps_nobody_out(tmp_path: Path) -> None:
    with started(HOLDING, tmp_path, "fork") as child:
        assert child.stdout is not None
        orphan = int(child.stdout.readline())
        former = FileConversations(str(tmp_path)).holder("c")
        child.kill()
        child.wait()
        try:
            with FileConversations(str(tmp_path)).open("c") as held:
                assert former is not None
                assert held.fencing_token() == former.token + 1
                held.append([said("mine")])
        finally:
            os.kill(orphan, signal.SIGKILL)


FORKING = """
import os, sys
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import Entry
conversations = FileConversations(sys.argv[1])
held = conversations.open("c", create=True)
for number in range(20):
    held.append([Entry(entry_type="message", content=str(number))])
read, write = os.pipe()
child = os.fork()
if not child:
    held.close()
    os.write(write, b"closed")
    os.read(0, 1)  # lives longer than the lease
    os._exit(0)
os.read(read, 6)
size = os.stat(sys.argv[1] + "/contexts/c/transcript/active.jsonl").st_size
held.append([Entry(entry_type="message", content="more")])
shown = open(sys.argv[1] + "/contexts/c/context.jsonl").read().count(chr(10))
print(shown, len(held.window()), open(sys.argv[1] + "/contexts/c/context.jsonl").read().count(chr(10)), flush=True)
held.close()
with conversations.open("c") as again:
    print(again.sequence(), size > os.stat(sys.argv[1] + "/contexts/c/transcript/active.jsonl").st_size, flush=True)
"""


def test_a_child_that_lives_longer_keeps_nothing_and_writes_nothing(tmp_path: Path) -> None:
    """The defects: it kept the lock, and its `close` wrote its parent's lines, which were then there twice."""
    with started(FORKING, tmp_path) as child:
        assert child.stdout is not None
        told = [child.stdout.readline(), child.stdout.readline()]
        _, errors = child.communicate("", timeout=60)
    assert told == ["1 22 22\n", "22 True\n"], errors


ADOPTING = """
import os, signal, sys
from marid.adapters.store.conversations import FileConversations
asked = 0
def clock():
    global asked
    asked += 1
    if asked == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return 1_800_000_000.0
FileConversations(sys.argv[1], clock=clock).open("c").close()
"""
LINE = '{{"id":"{0}","timestamp":1000,"from":"alice","to":"c","content":"{0}","entry_type":"{1}"}}\n'


def test_one_who_is_killed_while_taking_over_a_window_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Whoever asks for the time is about to do something: there it is killed, a step later each time."""
    window = "".join(LINE.format(key, "message") for key in ("k1", "m2", "k2"))
    for number in count(1):
        home = tmp_path / str(number)
        (home / "contexts/c/transcript").mkdir(parents=True)
        (home / "contexts/c/context.jsonl").write_text(window)
        transcript = LINE.format("m1", "message") + LINE.format("m2", "message") + LINE.format("a", "compaction")
        (home / "contexts/c/transcript/active.jsonl").write_text(transcript)
        child = started(ADOPTING, home, number)
        child.communicate(timeout=60)
        conversations = FileConversations(str(home))
        assert [entry.id for entry in conversations.read("c").window()][-3:] == ["k1", "m2", "k2"]
        with conversations.open("c") as held:
            assert [entry.id for entry in held.window()][1:] == ["k1", "m2", "k2"]
            assert [entry.id for entry in held.entries()][:-1] == ["m1", "m2", "a", "k1", "k2"]
        if child.returncode == 0:
            assert number > 5
            break
