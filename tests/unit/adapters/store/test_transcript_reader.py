"""Reading while others write."""

import threading
from pathlib import Path

import pytest

from fakes.stores import TunedConversations, run_in_threads, user_message
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import CONTEXT_CREATED, MESSAGE
from marid.core.conversation.records import StorageSettings
from marid.core.errors import Unavailable


def test_a_reader_never_sees_a_gap_while_partitions_change(tmp_path: Path) -> None:
    home = TunedConversations(str(tmp_path), StorageSettings(partition_max_entries=2))
    done = threading.Event()
    home.create("c")

    def write() -> None:
        with home.open("c") as held:
            for _ in range(60):
                held.append([user_message()])
        done.set()

    def look() -> None:
        read = home.read("c")
        while not done.is_set():
            numbers = [entry.sequence for entry in read.entries()]
            assert numbers == list(range(1, len(numbers) + 1))

    run_in_threads(write, look)


def test_a_conversation_of_another_program_has_a_beginning(home: FileConversations, folder: Path) -> None:
    (folder / "transcript").mkdir(parents=True)
    (folder / "transcript/active.jsonl").write_bytes(b'{"id":"a","content":"x","entry_type":"message"}\n')
    read = home.read("c")
    assert [entry.entry_type for entry in read.window()] == [CONTEXT_CREATED, MESSAGE]
    assert read.sequence() == 1
    assert read.problems() == ()


@pytest.mark.parametrize("many", [1, 3])
def test_a_last_entry_without_its_newline_is_read(home: FileConversations, folder: Path, many: int) -> None:
    """The defect: readers left it out, with all entries of its append, until the next opening accepted it."""
    with home.open("c", create=True) as held:
        held.append([user_message()] * many)
        before = tuple(held.entries())
    active = folder / "transcript/active.jsonl"
    active.write_bytes(active.read_bytes()[:-1])
    assert tuple(home.read("c").entries()) == before
    active.write_bytes(active.read_bytes()[:-1])
    assert tuple(home.read("c").entries()) == before[:1]


def test_a_reader_tells_each_line_that_it_has_met_and_could_not_read(tmp_path: Path) -> None:
    """The defect: only who opened a conversation was told, and not of a partition that was changed since."""
    home = TunedConversations(str(tmp_path), StorageSettings(partition_max_entries=3))
    with home.open("c", create=True) as held:
        for number in range(7):
            held.append([user_message(f"word{number}")])
    folder = tmp_path / "contexts/c/transcript"
    (partition,) = [path for path in (folder / "partitions").iterdir() if b"word0" in path.read_bytes()]
    for path, word in ((partition, b"word0"), (folder / "active.jsonl", b"word6")):
        path.write_bytes(path.read_bytes().replace(word, b"\t" + word))
    read = home.read("c")
    assert read.sequence() == 7
    assert read.problems() == (f"line 2 of '{folder / 'active.jsonl'}' cannot be read and is left out",)
    for _ in range(2):
        assert [entry.content for entry in read.search("word")] == [f"word{number}" for number in range(1, 6)]
        reported = [problem.split()[3].strip("'") for problem in read.problems()]
        assert reported == [str(folder / "active.jsonl"), str(partition)]
    with home.open("c") as held:
        assert len(held.problems()) == 2  # no anchor is in the active file, so the partition was read


def test_a_disk_error_is_reported(home: FileConversations, folder: Path) -> None:
    home.create("c")
    active = folder / "transcript/active.jsonl"
    active.unlink()
    active.symlink_to("/etc/hostname")
    with pytest.raises(Unavailable, match="reading the conversation 'c' failed"):
        home.read("c").sequence()
    with pytest.raises(Unavailable, match="opening the conversation 'c' failed"):
        home.open("c")
    assert home.holder("c") is None
