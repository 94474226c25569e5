"""kill -9 in the middle of streaming rounds, with two writers on one home: nothing that was told as stored is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import pytest

from fakes.stores import TunedConversations
from marid.core.conversation.entry import ANCHORS, NEVER_IN_WINDOW
from marid.core.conversation.records import StorageSettings
from marid.testing import ModelServer, Request, Script, Trickle, Turn, always, call, say

# Few entries to a partition, so that kills also meet rotations.
SETTINGS = """
base_url = "{url}"
model = "scripted-model"
fuel = 6
[storage]
partition_max_entries = 5
"""
WORDS = [f"word{number} " for number in range(40)]


def turn(request: Request) -> Turn:
    """A call that writes a note, then one that reads, then words; all of it slowly."""
    slowly = [Trickle(size=200, pause=0.01)]
    match len(request.results):
        case 0 if len(request.body["messages"]) % 2 == 0:
            calls = [call("update_todos", {"content": "one"}), call("get_tree", {"path": "."})]
            return say("Let me see. ", calls=calls, faults=slowly)
        case _:
            return say(*WORDS, faults=slowly)


class Writer:
    """One process that has a round in its own conversation; what it says is stored is collected."""

    def __init__(self, home: Path, project: Path, name: str) -> None:
        self.name = name
        self.told: list[dict[str, object]] = []
        self.begun = threading.Event()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "marid", "json", "--trust"],
            cwd=project,
            env={"PATH": os.environ["PATH"], "HOME": str(project), "MARID_HOME": str(home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"command": {"send_prompt": {"prompt": "go on"}}, "context": name}
        self._process.stdin.write(json.dumps(asked))
        self._process.stdin.close()
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,))
        self._reader.start()

    def _read(self, lines: IO[str]) -> None:
        for line in lines:
            if line.endswith("\n"):  # a line that was cut was told to nobody
                self.told.append(json.loads(line))
                self.begun.set()
        self.begun.set()

    def kill(self) -> None:
        """Now, whatever it does."""
        self._process.send_signal(signal.SIGKILL)
        self._reader.join()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def check(home: Path, name: str, told: list[dict[str, object]]) -> None:
    """Every line is whole, what was told is there, and the conversation opens at once with the right window."""
    store = TunedConversations(str(home), StorageSettings(partition_max_entries=5))
    with store.open(name) as held:
        entries = list(held.entries())
        window = held.window()
    numbers = [entry.sequence for entry in entries]
    assert numbers == sorted(set(numbers))
    ids = [entry.id for entry in entries]
    assert len(set(ids)) == len(ids)
    assert {line["id"] for line in told} <= set(ids)
    last = max(number for number, entry in enumerate(entries) if entry.entry_type in ANCHORS)
    assert list(window) == [entry for entry in entries[last:] if entry.entry_type not in NEVER_IN_WINDOW]
    transcript = home / "contexts" / name / "transcript"
    for file in [transcript / "active.jsonl", *(transcript / "partitions").glob("*.jsonl")]:
        for line in file.read_bytes().splitlines():
            assert json.loads(line)["sequence"]


def crash(home: Path, server: ModelServer, times: int, seed: int) -> None:
    """So many times: two writers, killed at moments of chance, most of them while the model speaks."""
    chance = random.Random(seed)
    project = home.parent / "project"
    told: dict[str, list[dict[str, object]]] = {"a": [], "b": []}
    for _ in range(times):
        before = len(server.requests)
        writers = [Writer(home, project, name) for name in told]
        for writer in writers:
            assert writer.begun.wait(60)
        if chance.random() < 0.8:
            server.wait_for(before + 1, 60)
        for writer in chance.sample(writers, 2):
            threading.Event().wait(chance.random() * 0.8)
            writer.kill()
        for writer in writers:
            told[writer.name] += [line for line in writer.told if "entry_type" in line]
            check(home, writer.name, told[writer.name])
    assert all(told.values())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return tmp_path / "home"


def test_a_few_kills_lose_nothing_that_was_told_as_stored(home: Path) -> None:
    with ModelServer(Script(steps=(always(turn),), strict=True)) as server:
        (home / "config.toml").write_text(SETTINGS.format(url=server.openai))
        crash(home, server, 4, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(8))
def test_many_kills_lose_nothing_that_was_told_as_stored(home: Path, seed: int) -> None:
    with ModelServer(Script(steps=(always(turn),), strict=True)) as server:
        (home / "config.toml").write_text(SETTINGS.format(url=server.openai))
        crash(home, server, 25, seed=seed)
