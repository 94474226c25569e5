"""`python -m bench.conversation`: measure, judge, tell; exit 1 when a bar does not hold."""

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.context.surroundings import machine
from bench.conversation.planting import entry, plant
from marid.adapters.store.catalogue import FileConversations
from marid.adapters.store.conversation import StoredConversation
from marid.adapters.store.entries import encode
from marid.core.entry import Entry

_RESULTS = Path(__file__).parents[1] / "results"
_PIECE = 40
_FASTEST_DISK = 100e-6


class Bar(NamedTuple):
    """A limit, what was measured, and whether it holds; None when this machine cannot tell."""

    name: str
    value: float
    limit: str
    holds: bool | None


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


def one(held: StoredConversation, entries: Sequence[Entry]) -> None:
    """One thread appends."""
    for added in entries:
        held.append([added])


def eight(held: StoredConversation, entries: Sequence[Entry]) -> None:
    """Eight threads append to the same conversation."""
    threads = [threading.Thread(target=one, args=(held, entries)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def appends(folder: Path, rounds: int) -> list[Bar]:
    """All three in turns, since a disk's mood changes by the second."""
    conversations = FileConversations(str(folder))
    chance = random.Random(2)
    made = [entry(chance, 0)._replace(id="") for _ in range(_PIECE)]
    line = encode(made[0]._replace(id="0" * 26, sequence=1000, time_ms=1_700_000_000_000))
    fd = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    singles: list[float] = []
    groups: list[float] = []
    floors: list[float] = []
    with conversations.open("single", create=True) as single, conversations.open("group", create=True) as group:
        for _ in range(rounds):
            floor = timed(lambda: bare(fd, line)) / _PIECE
            singles.append(timed(lambda: one(single, made)) / _PIECE)
            groups.append(timed(lambda: eight(group, made)) / (8 * _PIECE))
            floors.append(statistics.mean([floor, timed(lambda: bare(fd, line)) / _PIECE]))
    os.close(fd)
    floor = statistics.median(floors)
    telling = floor >= _FASTEST_DISK
    ratio = statistics.median(single / floor for single, floor in zip(singles, floors, strict=True))
    speed = statistics.median(floor / group for group, floor in zip(groups, floors, strict=True))
    return [
        Bar("bare write + fdatasync, µs", floor * 1e6, "", None),
        Bar("append / bare", ratio, "<= 1.3", ratio <= 1.3 if telling else None),
        Bar("eight threads, times the bare rate", speed, ">= 4", speed >= 4 if telling else None),
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
    words = [timed(lambda: list(read.search("nowhere word1", whole=True))) * 1e3 for _ in range(3)]
    found, searched = statistics.median(finds), statistics.median(words)
    return [
        Bar("open + window at 1,000 entries, ms", few, "", None),
        Bar(f"open + window at {count:,} entries, ms", many, "< 5", many < 5),
        Bar("the same, beyond 1.5x the small one, ms", many - 1.5 * few, "<= 3", many - 1.5 * few <= 3),
        Bar(f"find by id in {count:,}, ms", found, "< 50", found < 50),
        Bar(f"search of a word that is nowhere in {count:,}, ms", searched, "", None),
    ]


def main() -> int:
    """Do all; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.conversation", description=__doc__)
    trees = os.path.join(tempfile.gettempdir(), "marid-bench-conversations")
    parser.add_argument("--trees", metavar="DIR", default=trees, help=f"where large conversations are kept ({trees})")
    parser.add_argument("--count", type=int, default=1_000_000, metavar="N", help="entries in the large one (1000000)")
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="how often appends are measured (30)")
    asked = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="marid-bench-"))
    try:
        bars = [*appends(scratch, asked.rounds), *sizes(Path(asked.trees), asked.count)]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for bar in bars:
        verdict = {True: "holds", False: "FAILS", None: ""}[bar.holds]
        print(f"{bar.name:58} {bar.value:10.2f}  {bar.limit:8} {verdict}")
    name = time.strftime("conversation-%Y%m%dT%H%M%SZ.json", time.gmtime())
    _RESULTS.mkdir(exist_ok=True)
    (_RESULTS / name).write_text(json.dumps({"machine": machine(), "bars": [bar._asdict() for bar in bars]}, indent=2))
    return int(any(bar.holds is False for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
