"""One thread wakes all who follow files."""

import os
import threading
import time
from pathlib import Path

import pytest

from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.transcript_reader import ChangeWatcher
from marid.core.conversation.entry import MESSAGE, Entry


def test_an_entry_written_into_padding_wakes_though_the_size_stays(tmp_path: Path) -> None:
    home, woken = FileConversations(str(tmp_path)), threading.Event()
    active = tmp_path / "contexts/c/transcript/active.jsonl"
    with home.open("c", create=True) as held:
        for _ in range(20):
            held.append([Entry(entry_type=MESSAGE, content="x")])
        size = active.stat().st_size
        unsubscribe = home.subscribe("c", woken.set)
        woken.clear()
        held.append([Entry(entry_type=MESSAGE, content="now")])
        assert woken.wait(30)
        assert active.stat().st_size == size
        unsubscribe()


def watching() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "marid followers"}


@pytest.mark.parametrize("age", [0, 10])
def test_only_changes_wake_and_the_thread_ends_with_the_last_follower(tmp_path: Path, age: int) -> None:
    path, woken = tmp_path / "a", threading.Event()
    path.write_bytes(b"one\n")
    os.utime(path, (time.time() - age, time.time() - age))
    before, watcher = watching(), ChangeWatcher()
    unsubscribe = watcher.subscribe(str(path), woken.set)
    woken.clear()
    assert not woken.wait(0.2)
    path.write_bytes(b"two 2\n")
    assert woken.wait(30)
    other = watcher.subscribe(str(path), woken.set)
    assert len(watching() - before) == 1
    unsubscribe()
    other()
    until = time.monotonic() + 30
    while watching() - before and time.monotonic() < until:
        time.sleep(0.01)
    assert not watching() - before
