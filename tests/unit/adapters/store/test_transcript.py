"""Reading while others write."""

import threading
from pathlib import Path

import pytest

from marid.adapters.store.catalogue import FileConversations
from marid.core.conversation import Storage
from marid.core.entry import CONTEXT_CREATED, MESSAGE, Entry
from marid.core.errors import Unavailable


def test_a_reader_never_sees_a_gap_while_partitions_change(tmp_path: Path) -> None:
    home = FileConversations(str(tmp_path), Storage(partition_max_entries=2))
    done = threading.Event()
    faults: list[list[int]] = []
    with home.open("c", create=True) as held:

        def look() -> None:
            read = home.read("c")
            while not done.is_set():
                numbers = [entry.sequence for entry in read.entries()]
                if numbers != list(range(1, len(numbers) + 1)):
                    faults.append(numbers)

        thread = threading.Thread(target=look)
        thread.start()
        for _ in range(60):
            held.append([Entry(entry_type=MESSAGE, content="x")])
        done.set()
        thread.join()
    assert faults == []


def test_a_conversation_of_another_program_has_a_beginning(tmp_path: Path) -> None:
    folder = tmp_path / "contexts/c/transcript"
    folder.mkdir(parents=True)
    (folder / "active.jsonl").write_bytes(b'{"id":"a","content":"x","entry_type":"message"}\n')
    read = FileConversations(str(tmp_path)).read("c")
    assert [entry.entry_type for entry in read.window()] == [CONTEXT_CREATED, MESSAGE]
    assert read.sequence() == 1
    assert read.problems() == ()


def test_a_disk_that_does_not_answer_is_told(tmp_path: Path) -> None:
    home = FileConversations(str(tmp_path))
    home.create("c")
    active = tmp_path / "contexts/c/transcript/active.jsonl"
    active.unlink()
    active.symlink_to("/etc/hostname")
    with pytest.raises(Unavailable, match="reading the conversation 'c' failed"):
        home.read("c").sequence()
    with pytest.raises(Unavailable, match="opening the conversation 'c' failed"):
        home.open("c")
    assert home.holder("c") is None
