"""The partition that is appended to."""

import json
from pathlib import Path

import pytest

from marid.adapters.store.active_partition import ActivePartition, PartitionTally, first_sequence
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
    assert active.tally == PartitionTally(last=13, held=3, tokens=6, first_ts=11, anchor=start, before=11)
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


def test_a_line_that_cannot_be_read_is_told_with_its_place(paths: ConversationPaths) -> None:
    Path(paths.active).write_bytes(pair(1)[1] + b"rubbish\n" + pair(2)[1])
    active = ActivePartition(paths, StorageSettings())
    active.count_entries(0)
    assert [problem.partition(" of ")[0] for problem in active.problems] == ["line 2"]
    assert active.tally.held == 2
    active.close()


def test_a_new_file_is_not_begun_over_another(paths: ConversationPaths) -> None:
    active = filled(paths, StorageSettings())
    with pytest.raises(FileExistsError):
        active.start_next()
    Path(paths.active).rename(paths.transcript_file("old"))
    following = active.start_next()
    assert following.tally == PartitionTally(13)
    following.close()
