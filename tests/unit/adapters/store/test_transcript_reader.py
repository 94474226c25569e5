"""A conversation that is only read, and snapshots of its transcript."""

import os
import threading
import time
from pathlib import Path

import pytest

from fakes.partition_reads import look_up
from fakes.stores import TunedConversations, run_while, user_message
from marid.adapters.store import partition_index, transcript_reader
from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.layout import HomeLayout
from marid.adapters.store.transcript_reader import ChangeWatcher
from marid.core.conversation.entry import COMPACTION, CONTEXT_CREATED, MESSAGE, Entry
from marid.core.conversation.records import StorageSettings
from marid.core.errors import Unavailable


def test_a_reader_never_sees_a_gap_while_partitions_change(tmp_path: Path) -> None:
    home = TunedConversations(str(tmp_path), StorageSettings(partition_max_entries=2))
    home.create("c")
    read = home.read("c")

    def write() -> None:
        with home.open("c") as held:
            for _ in range(60):
                held.append([user_message()])

    def look() -> None:
        numbers = [entry.sequence for entry in read.entries()]
        assert numbers == list(range(1, len(numbers) + 1))

    run_while(write, look)


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


STORAGE = StorageSettings(partition_max_entries=4)


@pytest.fixture
def forty(tmp_path: Path) -> Path:
    """A home with a conversation of ten partitions, with four entries each, nearly."""
    home = TunedConversations(str(tmp_path), STORAGE)
    with home.open("c", create=True) as held:
        for number in range(40):
            held.append([Entry(entry_type=MESSAGE, id=f"id{number}", content=f"Word{number} in_between here")])
    return tmp_path


def test_a_search_by_id_reads_only_partitions_whose_filter_knows_it(forty: Path) -> None:
    known, unknown = look_up(forty, [{"id": "id7"}, {"id": "nothing"}])
    assert known.partitions <= 2
    assert [content.split()[0] for content in known.contents] == ["Word7"]
    assert unknown.partitions <= 1
    assert unknown.contents == []


def check_search(home: Path, limits: dict[str, tuple[int, int]], *, whole: bool) -> None:
    """Each of `limits` is how many partitions a query may read, and how many entries it finds."""
    answers = look_up(home, [{"words": words, "whole": whole} for words in limits])
    for (words, (most, wanted)), answer in zip(limits.items(), answers, strict=True):
        assert answer.partitions <= most, words
        assert len(answer.contents) == wanted, words


@pytest.mark.parametrize("whole", [True, False])
def test_a_search_by_word_reads_only_partitions_whose_filter_knows_it(forty: Path, *, whole: bool) -> None:
    limits = {"nowhere": (1, 0), "word17": (2, 1), "word17 here": (2, 1), "word17 nowhere": (1, 0), "here": (10, 40)}
    check_search(forty, limits, whole=whole)


def test_a_part_of_a_word_is_found_and_reads_only_partitions_that_have_its_pieces(forty: Path) -> None:
    """The defect: filters over words alone would hide `ord17` in `Word17`."""
    limits = {"ORD17": (2, 1), "rd1": (10, 11), "d1": (10, 11), "in_betw": (10, 40), "rdx17": (1, 0)}
    check_search(forty, limits, whole=False)


def test_a_filter_beside_a_partition_serves_where_the_common_file_has_none(forty: Path) -> None:
    """As a partition that was brought here together with its filter; what another program wrote hides nothing."""
    paths = HomeLayout(str(forty)).paths("c")
    common = paths.transcript_file(partition_index.WORDS_FILE)
    frames = partition_index.load_frames(common)
    Path(common).unlink()
    [unfiltered] = look_up(forty, [{"words": "nowhere"}])
    assert unfiltered.partitions == 10
    for number, (file, frame) in enumerate(frames.items()):
        path = Path(paths.transcript_file(file)).with_suffix(partition_index.SIDECAR_SUFFIX)
        if number < 5:
            partition_index.rewrite_frames(str(path), {partition_index.WORDS_FILE: frame})
        else:
            path.write_text('{"bits":{"vec":[0,0]},"num_hashes":7,"hasher":[1,2]}')
    words = [f"word{number}" for number in range(40)]
    absent, *present = look_up(forty, [{"words": "nowhere"}, *({"words": word, "whole": True} for word in words)])
    assert 5 <= absent.partitions <= 6
    assert [len(answer.contents) for answer in present] == [1] * 40


def test_what_an_anchor_kept_is_found_wherever_it_is(tmp_path: Path) -> None:
    with TunedConversations(str(tmp_path), STORAGE).open("c", create=True) as held:
        for number in range(10):
            held.append([Entry(entry_type=MESSAGE, id=f"id{number}")])
        # As another program might write it: without saying since when, and with ids that are nowhere.
        held.append([Entry(entry_type=COMPACTION, id="a", metadata={"kept": ["id8", "gone", 5, "id1"]})])
        wanted = ["a", "id8", "id1", "n"]
        held.append([Entry(entry_type=MESSAGE, id="n")])
        assert [entry.id for entry in held.window()] == wanted
    read = TunedConversations(str(tmp_path), STORAGE).read("c")
    assert [entry.id for entry in read.window()] == wanted
    with TunedConversations(str(tmp_path), STORAGE).open("c") as held:
        assert [entry.id for entry in held.window()] == wanted
        held.append([Entry(entry_type=COMPACTION, id="b", metadata={"kept": "odd"})])
        assert [entry.id for entry in held.window()] == ["b"]


def test_the_last_anchor_may_be_in_a_partition(tmp_path: Path) -> None:
    home = TunedConversations(str(tmp_path), STORAGE)
    with home.open("c", create=True) as held:
        held.append([Entry(entry_type=MESSAGE, id="x")])
        held.add_anchor(Entry(entry_type=COMPACTION, id="a"), ["x"])
        for number in range(9):
            held.append([Entry(entry_type=MESSAGE, id=f"id{number}")])
        wanted = ["a", "x", *(f"id{number}" for number in range(9))]
        assert [entry.id for entry in held.window()] == wanted
    assert [entry.id for entry in home.read("c").window()] == wanted
    with home.open("c") as held:
        assert [entry.id for entry in held.window()] == wanted


def test_a_conversation_without_files_is_empty(tmp_path: Path) -> None:
    (tmp_path / "contexts/c").mkdir(parents=True)
    paths = HomeLayout(str(tmp_path)).paths("c")
    whole = transcript_reader.take_snapshot(paths, STORAGE)
    assert whole.last_sequence() == 0
    assert whole.window() == []
    assert whole.find("x") is None


def test_the_last_time_is_the_files_own_where_its_last_line_is_too_long_to_be_seen(tmp_path: Path) -> None:
    file = tmp_path / "active.jsonl"
    file.write_bytes(encode_line(Entry(entry_type=MESSAGE, content="x" * 200_000, time_ms=5000)))
    os.utime(file, (9, 9))
    assert transcript_reader.last_entry_ms(str(file)) == 9000
    with file.open("ab") as more:
        more.write(encode_line(Entry(entry_type=MESSAGE, time_ms=7000)))
    assert transcript_reader.last_entry_ms(str(file)) == 7000


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
