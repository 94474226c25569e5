"""A file that only grows, by whole lines, and one write for the requests of several threads."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from fakes.stores import file_size_limit, run_in_threads
from marid.adapters.store.append_log import AppendLog, CommitWaiter, GroupCommit, length_marker, repair_tail
from marid.adapters.store.entry_lines import PADDING, complete_lines, encode_line, parse_lines
from marid.core.conversation.entry import Entry
from marid.core.conversation.records import Corrupt

FIRST = encode_line(Entry(entry_type="m", id="first", sequence=1))
GROUP = b"".join(encode_line(Entry(entry_type="m", id=f"g{left}", sequence=4 - left), left) for left in (2, 1, 0))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "j"


def repaired(path: Path) -> tuple[int, int]:
    fd = os.open(path, os.O_RDWR)
    try:
        return repair_tail(fd, str(path))
    finally:
        os.close(fd)


def first(behind: int) -> bytes:
    """A line that ends `behind` bytes before the end of a sector."""
    bare = len(encode_line(Entry(entry_type="m", sequence=1)))
    return encode_line(Entry(entry_type="m", content="x" * (1024 - behind - bare), sequence=1))


@pytest.mark.parametrize("room", [PADDING * 100, b""], ids=["padding", "none"])
@pytest.mark.parametrize("before", [b"", FIRST + GROUP])
def test_every_cut_of_a_group_takes_back_the_whole_group(path: Path, before: bytes, room: bytes) -> None:
    for cut in range(len(GROUP)):
        path.write_bytes(before + GROUP[:cut] + room)
        found = complete_lines(before + GROUP[:cut] + room)
        if cut == len(GROUP) - 1:
            # Only its end is missing.
            assert repaired(path) == (len(before + GROUP), 0)
            assert path.read_bytes() == found == before + GROUP
        else:
            assert repaired(path) == (len(before), cut)
            assert path.read_bytes() == found == before
    assert complete_lines(before + GROUP + room) == before + GROUP


def test_what_was_written_after_a_hole_is_moved_out(path: Path) -> None:
    """As after a power cut: the second sector of a group was written, the first was not."""
    path.write_bytes(first(len(GROUP) - 40) + PADDING * (len(GROUP) - 40) + GROUP[-40:] + PADDING * 100)
    size, torn = repaired(path)
    assert (size, torn) == (len(first(len(GROUP) - 40)), len(GROUP))
    assert path.read_bytes() == first(len(GROUP) - 40)


@pytest.mark.parametrize("tail", [PADDING * 100, b"", b'{"id":"cut'], ids=["room", "none", "cut"])
@pytest.mark.parametrize("lost", [len(GROUP) // 2, len(GROUP) // 3, 1, 0])
def test_a_hole_is_found_whatever_follows_it(tmp_path: Path, path: Path, lost: int, tail: bytes) -> None:
    """The defect: without room at the end of the file, half of a group was taken for entries."""
    lost += GROUP.index(b"\n") + 1
    before = first(lost)
    hole = before + PADDING * lost + GROUP[lost:] + tail
    assert complete_lines(hole) == before
    path.write_bytes(hole)
    assert repaired(path)[0] == len(before)
    assert path.read_bytes() == before
    assert (tmp_path / "j.torn").read_bytes().strip(PADDING) == GROUP[lost:] + tail.rstrip(PADDING) + b"\n"


def test_a_group_that_was_lost_in_its_midst_is_taken_back_as_a_whole(tmp_path: Path) -> None:
    begin = GROUP.index(b"\n") + 21
    long = encode_line(Entry(entry_type="m", content="y" * 600, sequence=3), 1)
    group = GROUP[: begin - 20] + long + GROUP[-100:]
    data = first(begin) + group[:begin] + PADDING * 512 + group[begin + 512 :] + PADDING * 100
    assert complete_lines(data) == first(begin)
    (tmp_path / "j").write_bytes(data)
    repaired(tmp_path / "j")
    assert (tmp_path / "j").read_bytes() == first(begin)


@pytest.mark.parametrize("room", [PADDING * 100, b""], ids=["padding", "none"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"content":""', b'"content":"a\t0"'),
        (b'"content":""', b'"content":\t""'),
        (b'{"id"', b'\t\t{"id"'),
        (b'{"id"', b"\t{{"),
        (b"}", b"}\t"),
        (b"}", b"\t" * 600),
    ],
)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_line_with_tabs_costs_at_most_itself(path: Path, number: int, old: bytes, new: bytes, room: bytes) -> None:
    """The defect: after a line was changed or removed by hand, a tab cut off all that followed."""
    every = [encode_line(Entry(entry_type="m", id=f"e{count}", sequence=count)) for count in range(1, 7)]
    for gone in (0, 1):
        kept = [*every[: number - gone], every[number].replace(old, new, 1), *every[number + 1 :]]
        path.write_bytes(b"".join(kept) + room)
        assert complete_lines(path.read_bytes()) == b"".join(kept)
        assert repaired(path) == (len(b"".join(kept)), 0)
        assert path.read_bytes() == b"".join(kept)


@pytest.mark.parametrize(
    "theirs", [b'\t\t{"x":1}\n', b'{"x":\t1}\n', b'\t\t{"x":1}\n' * 3, b"a\tb\tc\n", b"\t\t\n", b'a\t\tb\n{"x":1}\n']
)
@pytest.mark.parametrize("room", [PADDING * 100, b""], ids=["padding", "none"])
def test_tabs_of_another_program_are_not_a_hole(path: Path, theirs: bytes, room: bytes) -> None:
    last = 1 + theirs.count(b'"x"')
    later = encode_line(Entry(entry_type="m", id="later", sequence=last + 1))
    path.write_bytes(FIRST + theirs + later + room)
    assert complete_lines(path.read_bytes()) == FIRST + theirs + later
    assert repaired(path)[1] == 0
    assert path.read_bytes() == FIRST + theirs + later


def test_tabs_in_the_place_of_a_hole_are_none_if_no_number_is_missing() -> None:
    assert complete_lines(first(9) + PADDING * 9 + GROUP) == first(9) + PADDING * 9 + GROUP


def filled(path: Path) -> AppendLog:
    """A log with enough lines to have padding."""
    log = AppendLog(str(path))
    for _ in range(20):
        log.append(FIRST)
    return log


def test_many_lines_get_padding_which_is_removed_when_the_file_is_closed(path: Path) -> None:
    log = filled(path)
    assert path.stat().st_size > log.size
    assert log.read() == FIRST * 20
    assert complete_lines(path.read_bytes()) == FIRST * 20
    assert length_marker(str(path)) == (path.stat().st_ino, len(FIRST) * 20)
    big = encode_line(Entry(entry_type="m", content="x" * 100_000))
    log.append(big)
    assert log.read() == FIRST * 20 + big
    log.trim()
    assert path.read_bytes() == FIRST * 20 + big
    log.append(FIRST)
    log.close()
    assert path.read_bytes() == FIRST * 20 + big + FIRST


def test_padding_that_a_crash_left_is_not_damage(tmp_path: Path, path: Path) -> None:
    left = filled(path)
    again = AppendLog(str(path))
    assert (again.size, again.torn_bytes) == (len(FIRST) * 20, 0)
    assert path.read_bytes() == FIRST * 20
    assert not (tmp_path / "j.torn").exists()
    # Whoever held it before, and is still there, cuts nothing off.
    again.append(GROUP)
    left.close()
    assert path.read_bytes() == FIRST * 20 + GROUP
    again.close()


def test_what_another_program_wrote_after_the_padding_stays(path: Path) -> None:
    log = filled(path)
    with path.open("ab") as file:
        file.write(GROUP)
    log.close()
    assert path.read_bytes().endswith(GROUP)
    again = AppendLog(str(path))
    assert len(list(parse_lines(again.read()))) == 23
    again.close()


def test_a_disk_without_space_for_padding_still_takes_lines(tmp_path: Path) -> None:
    log = AppendLog(str(tmp_path / "j"))
    for _ in range(16):
        log.append(FIRST)
    with file_size_limit(60_000):
        log.append(GROUP)
    assert (tmp_path / "j").read_bytes() == FIRST * 16 + GROUP
    assert not log.is_changed()
    log.close()


def test_an_incomplete_line_is_moved_out(tmp_path: Path, path: Path) -> None:
    path.write_bytes(FIRST + b'{"id":"cu')
    log = AppendLog(str(path))
    assert (log.size, log.torn_bytes) == (len(FIRST), 9)
    log.append(GROUP)
    assert path.read_bytes() == FIRST + GROUP
    assert (tmp_path / "j.torn").read_bytes() == b'{"id":"cu\n'
    log.close()


def test_a_reader_of_odd_groups_stops_in_time() -> None:
    odd = b'{"marid:more":3}\n{"marid:more":1}\n'
    assert complete_lines(odd) == b'{"marid:more":3}\n'
    assert complete_lines(b"") == b""
    assert complete_lines(b'x"marid:more"\n') == b'x"marid:more"\n'


def test_a_field_of_another_program_is_not_the_mark_of_a_group(tmp_path: Path) -> None:
    """The defect: its last line was taken for the beginning of a group, and cut away."""
    theirs = b'{"id":"t","content":"hello","more":2}\n'
    assert complete_lines(FIRST + theirs) == FIRST + theirs
    (tmp_path / "j").write_bytes(FIRST + theirs)
    assert repaired(tmp_path / "j") == (len(FIRST + theirs), 0)


def test_a_write_that_fails_leaves_nothing_and_the_next_one_works(path: Path) -> None:
    log = AppendLog(str(path))
    log.append(FIRST)
    # A descriptor that cannot be written stands for a disk that refuses.
    os.close(log._fd)  # pyright: ignore[reportPrivateUsage]
    log._fd = os.open(path, os.O_RDONLY)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(OSError, match="descriptor"):
        log.append(GROUP)
    with path.open("ab") as file:
        file.write(b"left by the failure")
    log.append(GROUP)
    assert path.read_bytes() == FIRST + GROUP
    assert log.read() == FIRST + GROUP
    log.close()


def test_a_truncated_file_is_an_error(path: Path) -> None:
    log = AppendLog(str(path))
    log.append(FIRST)
    log.close()
    path.write_bytes(b"")
    with pytest.raises(Corrupt, match="truncated"):
        log.append(GROUP)
    assert path.read_bytes() == b""


def test_an_append_to_a_file_that_is_replaced_meanwhile_fails(tmp_path: Path) -> None:
    path, copy, kept = tmp_path / "j", tmp_path / "copy", tmp_path / "kept"
    log = AppendLog(str(path))
    log.append(FIRST)
    assert not log.is_changed()
    os.link(path, kept)

    def replace(_frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and called is os.fdatasync:
            sys.setprofile(None)
            copy.write_bytes(FIRST + b"more\n")
            copy.rename(path)

    sys.setprofile(replace)
    try:
        with pytest.raises(OSError, match="replaced"):
            log.append(GROUP)
    finally:
        sys.setprofile(None)
    assert log.is_changed()
    # Not even the next use may shorten the new one.
    with pytest.raises(OSError, match="replaced"):
        log.append(GROUP)
    assert path.read_bytes() == FIRST + b"more\n"
    assert kept.read_bytes() == FIRST
    path.unlink()
    assert log.is_changed()


def test_a_hole_that_leaves_a_line_readable_is_found_as_well() -> None:
    """The defect: an append of which sectors were lost was taken for whole, with fewer numbers in its list."""
    before = encode_line(Entry(entry_type="m", sequence=1, time_ms=1))
    line = encode_line(Entry(entry_type="m", sequence=2, time_ms=1, metadata={"v": [1] * 2000}))
    disk = bytearray(before + line)
    disk[1024:2048] = PADDING * 1024
    assert complete_lines(bytes(disk)) == before
    theirs = b'{"entry_type":"m",' + PADDING * (2048 - len(before) - 18) + b'"content":"x"}\n'
    assert complete_lines(before + theirs) == before + theirs


def test_a_coarse_clock_hides_no_replaced_file(tmp_path: Path) -> None:
    """The defect: what was written after it went into a file without a name, and was acknowledged."""
    path, copy = tmp_path / "j", tmp_path / "copy"
    copy.write_bytes(FIRST)
    log = AppendLog(str(path))
    log.append(FIRST)
    soon = 4_000_000_000 * 10**9
    os.utime(tmp_path, ns=(soon, soon))
    assert not log.is_changed()
    copy.rename(path)
    os.utime(tmp_path, ns=(soon, soon))
    assert log.is_changed()


def test_padding_is_not_a_change(tmp_path: Path) -> None:
    log = AppendLog(str(tmp_path / "j"))
    assert not log.is_changed()
    for _ in range(40):
        log.append(FIRST * 20)
        assert not log.is_changed()
    log.trim()
    assert not log.is_changed()
    for change in (b"x", b""):
        (tmp_path / "j").write_bytes(change)
        assert log.is_changed()
    log.close()


def test_a_repair_does_not_need_space_for_what_it_moves_out(tmp_path: Path, path: Path) -> None:
    path.write_bytes(FIRST + b"cut")
    (tmp_path / "j.torn").mkdir()
    assert repaired(path) == (len(FIRST), 3)


def test_reading_ends_where_the_file_ends(tmp_path: Path) -> None:
    log = AppendLog(str(tmp_path / "j"))
    log.append(FIRST)
    os.truncate(tmp_path / "j", 5)
    assert log.read() == FIRST[:5]
    log.close()


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "j").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic"):
        AppendLog(str(tmp_path / "j")).append(FIRST)
    assert not (tmp_path / "other").exists()


class Number(CommitWaiter):
    """A request to commit a number."""

    def __init__(self, value: int) -> None:
        self.value = value


class SlowDisk:
    """Keeps what is committed, by batch, and is busy until it is freed."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.busy, self.free = threading.Event(), threading.Event()

    def commit(self, items: Sequence[Number]) -> None:
        self.batches.append(values(items))
        self.busy.set()
        self.free.wait(30)


def values(items: Sequence[Number]) -> list[int]:
    return [item.value for item in items]


def queue(commits: GroupCommit[Number], *numbers: int) -> list[threading.Thread]:
    """Submit each number in a thread of that name, and wait until it is in the queue."""
    threads: list[threading.Thread] = []
    for number in numbers:
        length = len(commits._queue)  # pyright: ignore[reportPrivateUsage]
        threads.append(threading.Thread(target=commits.submit, args=(Number(number),), name=str(number)))
        threads[-1].start()
        while len(commits._queue) <= length:  # pyright: ignore[reportPrivateUsage]
            threading.Event().wait(0.001)
    return threads


def expecting(commit: Callable[[Sequence[Number]], None], waiters: int, seconds: float) -> GroupCommit[Number]:
    """As after a commit of this many waiters that took this long."""
    commits = GroupCommit(commit, longest_wait=seconds)
    commits._expected_waiters, commits._last_duration = waiters, seconds  # pyright: ignore[reportPrivateUsage]
    return commits


@pytest.mark.parametrize("later", [[1], [1, 2, 3], [1, 2, 3, 4, 5, 6, 7]])
@pytest.mark.parametrize("crowd", [1, 2])
def test_requests_that_come_while_the_disk_is_busy_are_written_together(later: list[int], crowd: int) -> None:
    disk = SlowDisk()
    commits = expecting(disk.commit, crowd, 0.01)
    first = threading.Thread(target=commits.submit, args=(Number(0),))
    first.start()
    disk.busy.wait(30)
    rest = queue(commits, *later)
    disk.free.set()
    for thread in [first, *rest]:
        thread.join()
    assert disk.batches == [[0], later]
    commits.submit(Number(8))
    assert disk.batches[-1] == [8]


def test_the_last_of_those_who_come_again_commits_for_all() -> None:
    done: list[tuple[list[int], str]] = []
    commits = expecting(lambda items: done.append((values(items), threading.current_thread().name)), 4, 30.0)
    threads = queue(commits, 0, 1, 2)
    commits.submit(Number(3))
    for thread in threads:
        thread.join()
    assert done == [([0, 1, 2, 3], threading.current_thread().name)]


def test_one_that_comes_alone_after_a_crowd_waits_only_for_a_moment() -> None:
    done: list[list[int]] = []
    commits = expecting(lambda items: done.append(values(items)), 8, 0.01)
    commits.submit(Number(1))
    commits.submit(Number(2))
    assert done == [[1], [2]]


@pytest.mark.parametrize("appointed", [True, False])
def test_after_an_interrupted_leader_the_next_one_commits(*, appointed: bool) -> None:
    done: list[list[int]] = []
    commits = expecting(lambda items: done.append(values(items)), 8, 30.0)
    gone = Number(0)
    gone.is_leader = commits._busy = appointed  # pyright: ignore[reportPrivateUsage]
    commits._queue.append(gone)  # pyright: ignore[reportPrivateUsage]
    threads = queue(commits, 1, 2)
    commits._remove_waiter(gone)  # pyright: ignore[reportPrivateUsage]
    for thread in threads:
        thread.join()
    assert done == [[1, 2]]
    commits._remove_waiter(gone)  # pyright: ignore[reportPrivateUsage]
    commits.submit(Number(3))
    assert done[1:] == [[3]]


WAITING = """
import threading, time
from marid.adapters.store.append_log import GroupCommit, CommitWaiter
free = threading.Event()
commits = GroupCommit(lambda _waiters: free.wait(30))
threads = [threading.Thread(target=commits.submit, args=(CommitWaiter(),)) for _ in range(3)]
for thread in threads:
    thread.start()
while len(commits._queue) < 2:
    time.sleep(0.001)
begun = time.process_time()
free.wait(0.5)
print(time.process_time() - begun)
free.set()
for thread in threads:
    thread.join()
"""


def test_waiting_for_a_slow_disk_costs_nothing() -> None:
    """In another process, since the time of other threads here would count."""
    done = subprocess.run([sys.executable, "-c", WAITING], capture_output=True, text=True, timeout=60, check=True)
    assert float(done.stdout) < 0.1


INTERRUPTED = """
import os, signal, threading, time
from marid.adapters.store.append_log import GroupCommit, CommitWaiter
busy, free = threading.Event(), threading.Event()
def commit(turns):
    busy.set()
    free.wait(30)
commits = GroupCommit(commit)
other = threading.Thread(target=commits.submit, args=(CommitWaiter(),))
other.start()
busy.wait(30)
def interrupt():
    while not commits._queue:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    commits.submit(CommitWaiter())
except KeyboardInterrupt:
    print("interrupted", len(commits._queue))
free.set()
other.join()
commits.submit(CommitWaiter())
print("served")
"""


def test_an_interrupted_waiter_leaves_the_queue() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "interrupted 0\nserved\n"


def test_eight_threads_without_a_pause_are_all_served() -> None:
    done: list[int] = []
    commits = GroupCommit[Number](lambda items: done.extend(values(items)))

    def work(name: int) -> None:
        for number in range(100):
            commits.submit(Number(100 * name + number))

    run_in_threads(*(partial(work, name) for name in range(8)))
    assert sorted(done) == list(range(800))
    for name in range(8):
        own = [number for number in done if number // 100 == name]
        assert own == sorted(own)


def test_a_bug_in_the_commit_does_not_block_later_requests() -> None:
    def commit(items: Sequence[Number]) -> None:
        if 13 in values(items):
            raise ValueError("bug")

    commits = GroupCommit(commit)
    with pytest.raises(ValueError, match="bug"):
        commits.submit(Number(13))
    good = Number(1)
    commits.submit(good)
    assert good.is_served
