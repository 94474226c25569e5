"""`python -m bench.conversation`: measure, print, compare; exit 1 when a limit does not hold."""

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

from bench.bars import Bar, report, write_docs
from bench.conversation import gateway
from bench.conversation.rounds import memory
from marid.adapters.store.append_log import CommitWaiter, GroupCommit
from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.entry_lines import encode_line
from marid.core.conversation.entry import MESSAGE, Entry

_PIECE = 40
_FASTEST_DISK = 100e-6
# About what the disk of a laptop takes.
_SLOWER = 1e-3
_WINDOW = 50
_WORDS = [f"word{number}" for number in range(5000)]
# Change this name whenever the large conversation changes, so that an old one is made again.
_DONE = "planted-2"
Append: TypeAlias = Callable[[Sequence[Entry]], object]


def make_entry(chance: random.Random, number: int) -> Entry:
    """A message of forty words."""
    content = " ".join(chance.choices(_WORDS, k=40))
    return Entry(entry_type=MESSAGE, content=content, sender="user", to="bench", role="user", id=f"entry-{number}")


def prepare(home: Path, count: int) -> FileConversations:
    """A home whose conversation `bench` has `count` entries, the last of them after an anchor; made once and kept."""
    conversations = FileConversations(str(home))
    if (home / _DONE).exists():
        return conversations
    shutil.rmtree(home, ignore_errors=True)
    chance = random.Random(1)
    with conversations.open("bench", create=True) as conversation:
        last = count - _WINDOW
        for start in range(1, last, 1000):
            conversation.append([make_entry(chance, number) for number in range(start, min(start + 1000, last))])
        conversation.clear()
        for number in range(last, count):
            conversation.append([make_entry(chance, number)])
    (home / _DONE).touch()
    return conversations


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def bare(fd: int, line: bytes) -> None:
    """The least that a durable entry can cost."""
    for _ in range(_PIECE):
        os.write(fd, line)
        os.fdatasync(fd)


class Bytes(CommitWaiter):
    """What one of eight threads writes."""

    def __init__(self, data: bytes) -> None:
        self.data = data


def one(append: Append, entries: Sequence[Entry]) -> None:
    """Append from one thread."""
    for added in entries:
        append([added])


def eight(append: Append, entries: Sequence[Entry]) -> float:
    """Seconds in which eight threads append to the same conversation, once all of them have started."""
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
    """Group commit of one line each: the most that eight threads of this interpreter can do."""

    def write(waiters: Sequence[Bytes]) -> None:
        os.write(fd, b"".join([waiter.data for waiter in waiters]))
        os.fdatasync(fd)

    commits = GroupCommit(write)
    return lambda _entries: commits.submit(Bytes(line))


@contextmanager
def slower_disk(delay: float) -> Generator[None]:
    """Make every sync of this process take longer."""
    sync = os.fdatasync

    def slow(fd: int) -> None:
        sync(fd)
        time.sleep(delay)

    os.fdatasync = slow
    try:
        yield
    finally:
        os.fdatasync = sync


def make_entries() -> tuple[list[Entry], bytes]:
    """The entries to append, and a line of the same length."""
    chance = random.Random(2)
    entries = [make_entry(chance, 0)._replace(id="") for _ in range(_PIECE)]
    return entries, encode_line(entries[0]._replace(id="0" * 26, sequence=1000, time_ms=1_700_000_000_000))


def crowded(folder: Path, rounds: int) -> list[Bar]:
    """Eight threads again, where the disk limits the rate and not switching between threads."""
    entries, line = make_entries()
    rows: list[float] = []
    with (
        open(folder / "slow", "ab", buffering=0) as file,
        FileConversations(str(folder)).open("slow", create=True) as group,
        slower_disk(_SLOWER),
    ):
        for _ in range(rounds):
            rows.append(seconds(lambda: bare(file.fileno(), line)) * 8 / eight(group.append, entries))
    return [Bar(f"eight threads, times the bare rate, every sync {_SLOWER * 1e3:g} ms slower", statistics.median(rows))]


def appends(folder: Path, rounds: int) -> list[Bar]:
    """Append in turns, since the speed of a disk changes by the second."""
    conversations = FileConversations(str(folder))
    entries, line = make_entries()
    rows: list[tuple[float, float, float, float]] = []
    with (
        open(folder / "bare", "ab", buffering=0) as file,
        open(folder / "only", "ab", buffering=0) as other,
        conversations.open("single", create=True) as single,
        conversations.open("group", create=True) as group,
    ):
        fd, only = file.fileno(), writing(other.fileno(), line)
        for _ in range(rounds):
            before = seconds(lambda: bare(fd, line))
            alone = seconds(lambda: one(single.append, entries))
            together, least = eight(group.append, entries) / 8, eight(only, entries) / 8
            floor = (before + seconds(lambda: bare(fd, line))) / 2
            rows.append((floor / _PIECE, alone / floor, floor / together, floor / least))
    floor, ratio, speed, most = (statistics.median(column) for column in zip(*rows, strict=True))
    judge = floor >= _FASTEST_DISK
    return [
        Bar("bare write + fdatasync, µs", floor * 1e6),
        Bar("append / bare", ratio, "<= 1.3", ratio <= 1.3 if judge else None),
        Bar("eight threads, times the bare rate", speed, ">= 4", speed >= 4 if judge else None),
        Bar("eight threads that only write and sync together, the same", most),
    ]


def time_open(conversations: FileConversations) -> float:
    """Seconds to open the conversation and read its window."""
    begin = time.perf_counter()
    with conversations.open("bench") as conversation:
        conversation.window()
        return time.perf_counter() - begin


def sizes(trees: Path, count: int) -> list[Bar]:
    """A small and a large conversation, compared."""
    small, large = prepare(trees / "1000", 1000), prepare(trees / str(count), count)
    pairs = [(time_open(small), time_open(large)) for _ in range(31)][1:]
    few, many = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
    read = large.read("bench")
    chance = random.Random(3)
    finds = [seconds(lambda: read.find(f"entry-{chance.randrange(1, count - 100)}")) * 1e3 for _ in range(30)]
    words = [seconds(lambda: list(read.search("nowhere word1", whole_words=True))) * 1e3 for _ in range(3)]
    parts = [seconds(lambda: list(read.search("owher"))) * 1e3 for _ in range(3)]
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
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.conversation", description=__doc__)
    trees = os.path.join(tempfile.gettempdir(), "marid-bench-conversations")
    parser.add_argument("--trees", metavar="DIR", default=trees, help=f"where large conversations are kept ({trees})")
    parser.add_argument("--count", type=int, default=1_000_000, metavar="N", help="entries in the large one (1000000)")
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="how often appends are measured (30)")
    parser.add_argument("--talk", type=int, default=10_000, metavar="N", help="rounds of the long one (10000)")
    parser.add_argument("--write-docs", action="store_true", help="only write the last runs into docs/comparison.md")
    options = parser.parse_args()
    if options.write_docs:
        return write_docs("conversation", "start")
    scratch = Path(tempfile.mkdtemp(prefix="marid-bench-"))
    try:
        bars = appends(scratch, options.rounds) + crowded(scratch, 5)
        bars += sizes(Path(options.trees), options.count)
        bars += gateway.events(gateway.PIECES, gateway.ROUNDS)
        bars += memory(scratch, options.talk)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return report("conversation", bars)


if __name__ == "__main__":
    sys.exit(main())
