"""Reading while others write."""

import threading
from pathlib import Path

import pytest

from fakes.stores import TunedConversations
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import CONTEXT_CREATED, MESSAGE, Entry
from marid.core.conversation.records import StorageSettings
from marid.core.errors import Unavailable


def test_a_reader_never_sees_a_gap_while_partitions_change(tmp_path: Path) -> None:
    home = TunedConversations(str(tmp_path), StorageSettings(partition_max_entries=2))
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


@pytest.mark.parametrize("many", [1, 3])
def test_a_last_entry_that_lacks_only_the_end_of_its_line_is_seen(tmp_path: Path, many: int) -> None:
    """The defect: readers left it out, with all entries of its append, until the next opening accepted it."""
    home = FileConversations(str(tmp_path))
    with home.open("c", create=True) as held:
        held.append([Entry(entry_type=MESSAGE, content="x")] * many)
        before = tuple(held.entries())
    active = tmp_path / "contexts/c/transcript/active.jsonl"
    active.write_bytes(active.read_bytes()[:-1])
    assert tuple(home.read("c").entries()) == before
    active.write_bytes(active.read_bytes()[:-1])
    assert tuple(home.read("c").entries()) == before[:1]


def test_a_reader_tells_each_line_that_it_has_met_and_could_not_read(tmp_path: Path) -> None:
    """The defect: only who opened a conversation was told, and not of a partition that was changed since."""
    home = TunedConversations(str(tmp_path), StorageSettings(partition_max_entries=3))
    with home.open("c", create=True) as held:
        for number in range(7):
            held.append([Entry(entry_type=MESSAGE, content=f"word{number}")])
    folder = tmp_path / "contexts/c/transcript"
    (partition,) = [path for path in (folder / "partitions").iterdir() if b"word0" in path.read_bytes()]
    for path, word in ((partition, b"word0"), (folder / "active.jsonl", b"word6")):
        path.write_bytes(path.read_bytes().replace(word, b"\t" + word))
    read = home.read("c")
    assert read.sequence() == 7
    assert read.problems() == (f"line 2 of '{folder / 'active.jsonl'}' cannot be read and is left out",)
    for _ in range(2):
        assert [entry.content for entry in read.search("word")] == [f"word{number}" for number in range(1, 6)]
        assert [problem.split()[3].strip("'") for problem in read.problems()] == [
            str(folder / "active.jsonl"),
            str(partition),
        ]
    with home.open("c") as held:
        assert len(held.problems()) == 2  # no anchor is in the active file, so the partition was read


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
