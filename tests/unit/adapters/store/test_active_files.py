"""The files that an open conversation appends to."""

import json
from pathlib import Path

import pytest

from fakes.stores import file_size_limit
from marid.adapters.store.active_files import ActivePartition, PartitionTally, WindowFile, first_sequence
from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.entry import ARCHIVAL, Entry
from marid.core.conversation.records import StorageSettings


def pair(number: int, kind: str = "m", content: str = "abcd") -> tuple[Entry, bytes]:
    entry = Entry(entry_type=kind, content=content, sequence=number, time_ms=number * 1000)
    return entry, encode_line(entry)


def filled(paths: ConversationPaths, storage: StorageSettings) -> ActivePartition:
    active = ActivePartition(paths, storage)
    active.count_entries(10)
    active.append_entries([pair(11)])
    active.append_entries([pair(12, ARCHIVAL), pair(13)])
    return active


def test_it_counts_as_it_grows_and_counts_the_same_when_it_is_read(paths: ConversationPaths) -> None:
    active = filled(paths, StorageSettings())
    start = len(pair(11)[1])
    assert active.tally == PartitionTally(last=13, entry_count=3, tokens=6, first_ts=11, anchor=start, before=11)
    again = ActivePartition(paths, StorageSettings())
    assert again.count_entries(10) == active.read()
    assert again.tally == active.tally
    active.close()
    again.close()


def test_an_empty_file_begins_where_the_last_holder_noted(paths: ConversationPaths) -> None:
    assert first_sequence(paths, pair(7)[1]) == 7
    assert first_sequence(paths, b"") == 0
    active = filled(paths, StorageSettings())
    active.close()
    assert first_sequence(paths, b"") == 0, "the note is about a file with entries"
    empty = ActivePartition(paths, StorageSettings())
    empty.count_entries(10)
    Path(paths.active).unlink()
    empty.start_next().close()
    assert first_sequence(paths, b"") == 14
    assert first_sequence(paths, b"rubbish\n") == 0
    assert ActivePartition(paths, StorageSettings()).prepare_sealing() == b""
    assert first_sequence(paths, b"") == 0


def test_what_was_noted_spares_the_reading_only_while_it_is_true(paths: ConversationPaths) -> None:
    active = filled(paths, StorageSettings())
    active.close()
    noted = Path(paths.transcript_file("active.mark"))
    # A note that says something else shows that it is believed.
    mark = json.loads(noted.read_bytes())
    noted.write_text(json.dumps(mark | {"tokens": 99}))
    believed = ActivePartition(paths, StorageSettings())
    believed.count_entries(10)
    assert believed.tally.tokens == 99
    believed.append_entries([pair(14)])
    again = ActivePartition(paths, StorageSettings())
    again.count_entries(10)
    assert again.tally.tokens == 101
    for wrong in ({"size": 9999}, {"crc": 1}, {"bytes_per_token": 9}, {"last": 50}, {"tokens": "x"}):
        noted.write_text(json.dumps(mark | {"tokens": 99} | wrong))
        doubted = ActivePartition(paths, StorageSettings())
        doubted.count_entries(10)
        assert doubted.tally.tokens == 8
        noted.write_bytes(b"{}")
        believed.close()


@pytest.mark.parametrize(
    ("storage", "now", "full"),
    [
        (StorageSettings(), 13, False),
        (StorageSettings(partition_max_entries=4), 13, False),
        (StorageSettings(partition_max_entries=3), 13, True),
        (StorageSettings(partition_max_tokens=7), 13, False),
        (StorageSettings(partition_max_tokens=6), 13, True),
        (StorageSettings(partition_max_age_seconds=60), 70, False),
        (StorageSettings(partition_max_age_seconds=60), 71, True),
        (StorageSettings(partition_max_age_seconds=60), -40, False),
        (StorageSettings(partition_max_age_seconds=60), -1_000_000, True),  # the clock was ahead, and was set right
        (StorageSettings(partition_max_tokens=4, bytes_per_token=4), 13, False),
    ],
)
def test_it_is_full_when_a_limit_is_reached(
    paths: ConversationPaths, storage: StorageSettings, now: float, full: bool
) -> None:
    """Detail 5: limits count with `>=`, after the append."""
    active = filled(paths, storage)
    assert active.is_full(now) is full
    active.close()


def test_an_empty_file_and_one_without_times_are_not_full_by_age(paths: ConversationPaths) -> None:
    active = ActivePartition(paths, StorageSettings(partition_max_age_seconds=60))
    active.count_entries(0)
    assert not active.is_full(1e12)
    active.append_entries([(Entry(entry_type="m", sequence=1), b'{"sequence":1}\n')])
    assert not active.is_full(1e12)
    active.close()


def test_a_new_file_is_not_begun_over_another(paths: ConversationPaths) -> None:
    active = filled(paths, StorageSettings())
    with pytest.raises(FileExistsError):
        active.start_next()
    Path(paths.active).rename(paths.transcript_file("old"))
    following = active.start_next()
    assert following.tally == PartitionTally(13)
    following.close()


ENTRIES = [Entry(entry_type="m", content=text, sequence=number) for number, text in enumerate("abc", 1)]


def begun(paths: ConversationPaths, entries: list[Entry]) -> WindowFile:
    window = WindowFile(paths, entries)
    window.start()
    return window


def test_until_it_begins_the_file_is_left_alone(paths: ConversationPaths) -> None:
    Path(paths.window).write_bytes(b"of another program")
    window = WindowFile(paths, ENTRIES[:1])
    window.add([ENTRIES[1]], encode_line(ENTRIES[1]))
    window.flush()
    window.replace(ENTRIES)
    window.flush()
    assert Path(paths.window).read_bytes() == b"of another program"
    window.start()
    assert Path(paths.window).read_bytes() == b"".join(map(encode_line, ENTRIES))


@pytest.mark.parametrize("left", [None, b"", b"rubbish", encode_line(ENTRIES[1])])
def test_whatever_is_there_it_becomes_what_it_should_be(paths: ConversationPaths, left: bytes | None) -> None:
    if left is not None:
        Path(paths.window).write_bytes(left)
    Path(paths.file(".dirty")).touch()
    window = begun(paths, ENTRIES[:1])
    assert not Path(paths.file(".dirty")).exists()
    window.add([ENTRIES[1]], encode_line(ENTRIES[1]))
    window.add([ENTRIES[2]], encode_line(ENTRIES[2]))
    window.flush()
    window.flush()
    assert Path(paths.window).read_bytes() == b"".join(map(encode_line, ENTRIES))
    window.replace(ENTRIES[1:])
    assert Path(paths.window).read_bytes() == b"".join(map(encode_line, ENTRIES[1:]))
    window.flush()
    inode = Path(paths.window).stat().st_ino
    begun(paths, ENTRIES[1:])
    assert Path(paths.window).stat().st_ino == inode


def test_a_disk_that_refuses_is_no_error_and_is_made_good_later(paths: ConversationPaths) -> None:
    Path(paths.window).mkdir()
    window = begun(paths, ENTRIES[:1])
    window.add([ENTRIES[1]], encode_line(ENTRIES[1]))
    assert window.entries == ENTRIES[:2]
    Path(paths.window).rmdir()
    window.add([ENTRIES[2]], encode_line(ENTRIES[2]))
    window.flush()
    assert Path(paths.window).read_bytes() == b"".join(map(encode_line, ENTRIES))
    Path(paths.window).unlink()
    Path(paths.window).mkdir()
    window.add([ENTRIES[2]], encode_line(ENTRIES[2]))
    window.flush()
    assert len(window.entries) == 4
    Path(paths.window).rmdir()
    window.flush()
    assert Path(paths.window).read_bytes().count(b"\n") == 4


def test_a_disk_that_fills_leaves_no_part_of_a_line(paths: ConversationPaths) -> None:
    """The defect: the line that did not fit was cut, and stayed so while nothing could be put in its place."""
    window = begun(paths, ENTRIES[:1])
    large = Entry(entry_type="m", content="b" * 1000)
    with file_size_limit(500):
        window.add([large], encode_line(large))
        window.flush()
        begun(paths, window.entries)
    assert Path(paths.window).read_bytes() == encode_line(ENTRIES[0])


def test_the_file_follows_before_too_much_waits(paths: ConversationPaths) -> None:
    window = begun(paths, [])
    for _ in range(64):
        window.add([ENTRIES[0]], encode_line(ENTRIES[0]))
    assert Path(paths.window).read_bytes() == encode_line(ENTRIES[0]) * 64
    window.flush()
