"""A program whose children write one conversation in turns and are killed, again and again; it checks what is left.

Run by its path: `TOP KILLS SEED`. It prints how many entries were acknowledged and how many torn ends were repaired.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.entry_lines import encode_line
from marid.core.conversation.entry import ANCHORS, COMPACTION, MESSAGE, Entry
from marid.core.conversation.records import StorageSettings

STORAGE = StorageSettings(partition_max_entries=7, lock_heartbeat_seconds=0.01)


def write(home: str, seed: int, acks: int) -> None:
    """Open, append a few, close, without end; what is acknowledged goes down the pipe."""
    chance = random.Random(seed)
    conversations = FileConversations(home)
    while True:
        with conversations.open("c", STORAGE, wait=60, create=True) as held:
            for _ in range(chance.randrange(1, 6)):
                size = chance.choice((1, 1, 1, 3))
                text = "x" * chance.choice((10, 300, 20_000))
                wish = [Entry(entry_type=MESSAGE, content=f"{n}/{size} {text}", sender="user") for n in range(size)]
                if chance.random() < 0.1:
                    kept = [entry.id for entry in held.window()[-2:] if entry.entry_type == MESSAGE]
                    stored = [held.add_anchor(Entry(entry_type=COMPACTION), kept)]
                else:
                    stored = held.append(wish)
                os.write(acks, b"".join(f"{entry.id}\n".encode() for entry in stored))


def trial(home: str, chance: random.Random) -> set[str]:
    """Two writers, both killed at some moment: the ids that they were told are safe."""
    read, acks = os.pipe()
    children: list[int] = []
    for _ in range(2):
        seed = chance.randrange(1 << 30)
        child = os.fork()
        if not child:
            os.close(read)
            try:
                write(home, seed, acks)
            finally:
                os._exit(1)
        children.append(child)
    os.close(acks)
    time.sleep(chance.uniform(0.01, 0.25))
    for child in children:
        os.kill(child, signal.SIGKILL)
    for child in children:
        status = os.waitpid(child, 0)[1]
        assert os.WIFSIGNALED(status), "a writer failed by itself"
    with os.fdopen(read, "rb") as pipe:
        return {line.decode() for line in pipe.read().split(b"\n")[:-1]}


def check(home: str, acknowledged: set[str]) -> int:
    """Whether all is as promised after the next start; 1 when an end had to be repaired."""
    place = Path(home, "contexts", "c")
    begin = time.monotonic()
    with FileConversations(home).open("c", STORAGE) as held:
        assert time.monotonic() - begin < 5
        entries = list(held.entries())
        window = held.window()
        torn = [problem for problem in held.problems() if "interrupted write" in problem]
        assert len(torn) == len(held.problems()), held.problems()
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    ids = [entry.id for entry in entries]
    assert len(set(ids)) == len(ids)
    assert acknowledged <= set(ids)
    whole = [entry.content.split(" ")[0] for entry in entries if entry.entry_type == MESSAGE]
    assert [part for part in whole if part.endswith("/3")] == ["0/3", "1/3", "2/3"] * whole.count("0/3")
    at = max(number for number, entry in enumerate(entries) if entry.entry_type in ANCHORS)
    kept = json.loads(json.dumps(dict(entries[at].metadata))).get("kept", [])
    known = {entry.id: entry for entry in entries}
    assert list(window) == [entries[at], *(known[key] for key in kept), *entries[at + 1 :]]
    assert (place / "context.jsonl").read_bytes() == b"".join(map(encode_line, window))
    listed = {row["file"] for row in json.loads((place / "transcript/manifest.json").read_bytes())["partitions"]}
    assert listed == {f"partitions/{name}" for name in os.listdir(place / "transcript/partitions")}
    files = [place / "transcript" / name for name in [*listed, "active.jsonl"]]
    assert all(json.loads(line) for file in files for line in file.read_bytes().split(b"\n")[:-1])
    return len(torn)


def main(top: str, kills: int, seed: int) -> None:
    """One home for all trials, so that what a kill has left is also what the next trial begins with."""
    chance = random.Random(seed)
    acknowledged: set[str] = set()
    FileConversations(top).create("c")
    torn = 0
    for _ in range(kills):
        acknowledged |= trial(top, chance)
        torn += check(top, acknowledged)
    print(len(acknowledged), torn)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
