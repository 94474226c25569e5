"""`python -m bench.conversation`: measure, judge, tell; exit 1 when a bar does not hold."""

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from bench.bars import Bar, put, told
from bench.conversation import gateway
from bench.conversation.planting import entry, plant
from bench.conversation.rounds import memory
from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.group_commit import CommitWaiter, GroupCommit
from marid.core.conversation.entry import Entry

_PIECE = 40
_FASTEST_DISK = 100e-6
# What the disk of a laptop takes, more or less.
_SLOWER = 1e-3
Append: TypeAlias = Callable[[Sequence[Entry]], object]


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def bare(fd: int, line: bytes) -> None:
    """The least that an acknowledged entry can cost."""
    for _ in range(_PIECE):
        os.write(fd, line)
        os.fdatasync(fd)


class Bytes(CommitWaiter):
    """What one of eight threads wants written, and nothing else."""

    def __init__(self, data: bytes) -> None:
        self.data = data


def one(append: Append, entries: Sequence[Entry]) -> None:
    """One thread appends."""
    for added in entries:
        append([added])


def eight(append: Append, entries: Sequence[Entry]) -> float:
    """Seconds of eight threads that append to the same thing, from when all of them are there."""
    begun: list[float] = []
    ready = threading.Barrier(8, lambda: begun.append(time.perf_counter()))

    def work() -> None:
        ready.wait()
        one(append, entries)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begun[0]


def writing(fd: int, line: bytes) -> Append:
    """Group commit of a line each: what eight threads of this interpreter can do on this machine at all."""

    def write(waiters: Sequence[Bytes]) -> None:
        os.write(fd, b"".join([waiter.data for waiter in waiters]))
        os.fdatasync(fd)

    commits = GroupCommit(write)
    return lambda _entries: commits.submit(Bytes(line))


@contextmanager
def slower(seconds: float) -> Generator[None]:
    """As on a disk that takes so much longer for every sync, for whoever syncs."""
    sync = os.fdatasync

    def slow(fd: int) -> None:
        sync(fd)
        time.sleep(seconds)

    os.fdatasync = slow
    try:
        yield
    finally:
        os.fdatasync = sync


def said() -> tuple[list[Entry], bytes]:
    """What is appended, and how long a line of it is."""
    chance = random.Random(2)
    made = [entry(chance, 0)._replace(id="") for _ in range(_PIECE)]
    return made, encode_line(made[0]._replace(id="0" * 26, sequence=1000, time_ms=1_700_000_000_000))


def crowded(folder: Path, rounds: int) -> list[Bar]:
    """Eight threads again, where the disk and not the hand-over from thread to thread sets the pace."""
    made, line = said()
    rows: list[float] = []
    with (
        open(folder / "slow", "ab", buffering=0) as file,
        FileConversations(str(folder)).open("slow", create=True) as group,
        slower(_SLOWER),
    ):
        for _ in range(rounds):
            rows.append(timed(lambda: bare(file.fileno(), line)) * 8 / eight(group.append, made))
    return [Bar(f"eight threads, times the bare rate, every sync {_SLOWER * 1e3:g} ms slower", statistics.median(rows))]


def appends(folder: Path, rounds: int) -> list[Bar]:
    """All in turns, since a disk's mood changes by the second."""
    conversations = FileConversations(str(folder))
    made, line = said()
    rows: list[tuple[float, float, float, float]] = []
    with (
        open(folder / "bare", "ab", buffering=0) as file,
        open(folder / "only", "ab", buffering=0) as other,
        conversations.open("single", create=True) as single,
        conversations.open("group", create=True) as group,
    ):
        fd, only = file.fileno(), writing(other.fileno(), line)
        for _ in range(rounds):
            before = timed(lambda: bare(fd, line))
            alone = timed(lambda: one(single.append, made))
            together, least = eight(group.append, made) / 8, eight(only, made) / 8
            floor = (before + timed(lambda: bare(fd, line))) / 2
            rows.append((floor / _PIECE, alone / floor, floor / together, floor / least))
    floor, ratio, speed, most = (statistics.median(column) for column in zip(*rows, strict=True))
    telling = floor >= _FASTEST_DISK
    return [
        Bar("bare write + fdatasync, µs", floor * 1e6),
        Bar("append / bare", ratio, "<= 1.3", ratio <= 1.3 if telling else None),
        Bar("eight threads, times the bare rate", speed, ">= 4", speed >= 4 if telling else None),
        Bar("eight threads that only write and sync together, the same", most),
    ]


def opened(conversations: FileConversations) -> float:
    """Seconds from nothing to the window."""
    begin = time.perf_counter()
    held = conversations.open("bench")
    held.window()
    taken = time.perf_counter() - begin
    held.close()
    return taken


def sizes(trees: Path, count: int) -> list[Bar]:
    """A small and a large conversation side by side."""
    small, large = plant(trees / "1000", 1000), plant(trees / str(count), count)
    opened(small)
    opened(large)
    pairs = [(opened(small), opened(large)) for _ in range(30)]
    few, many = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
    read = large.read("bench")
    chance = random.Random(3)
    finds = [timed(lambda: read.find(f"entry-{chance.randrange(1, count - 100)}")) * 1e3 for _ in range(30)]
    words = [timed(lambda: list(read.search("nowhere word1", whole_words=True))) * 1e3 for _ in range(3)]
    parts = [timed(lambda: list(read.search("owher"))) * 1e3 for _ in range(3)]
    found, searched, sought = statistics.median(finds), statistics.median(words), statistics.median(parts)
    return [
        Bar("open + window at 1,000 entries, ms", few),
        Bar(f"open + window at {count:,} entries, ms", many, "< 5", many < 5),
        Bar("the same, beyond 1.5x the small one, ms", many - 1.5 * few, "<= 3", many - 1.5 * few <= 3),
        Bar(f"find by id in {count:,}, ms", found, "< 50", found < 50),
        Bar(f"search of a word that is nowhere in {count:,}, ms", searched),
        Bar(f"search of a part of a word that is nowhere in {count:,}, ms", sought),
    ]


def main() -> int:
    """Do all; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.conversation", description=__doc__)
    trees = os.path.join(tempfile.gettempdir(), "marid-bench-conversations")
    parser.add_argument("--trees", metavar="DIR", default=trees, help=f"where large conversations are kept ({trees})")
    parser.add_argument("--count", type=int, default=1_000_000, metavar="N", help="entries in the large one (1000000)")
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="how often appends are measured (30)")
    parser.add_argument("--talk", type=int, default=10_000, metavar="N", help="rounds of the long one (10000)")
    parser.add_argument("--write-docs", action="store_true", help="only put the last runs into docs/comparison.md")
    asked = parser.parse_args()
    if asked.write_docs:
        return put("conversation", "start")
    scratch = Path(tempfile.mkdtemp(prefix="marid-bench-"))
    try:
        bars = appends(scratch, asked.rounds) + crowded(scratch, 5)
        bars += sizes(Path(asked.trees), asked.count)
        bars += gateway.events(gateway.PIECES, gateway.ROUNDS)
        bars += memory(scratch, asked.talk)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return told("conversation", bars)


if __name__ == "__main__":
    sys.exit(main())
