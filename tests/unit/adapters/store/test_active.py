"""The partition that is appended to."""

import json
from pathlib import Path

import pytest

from marid.adapters.store.active import Active, Tally, first_number
from marid.adapters.store.entries import encode
from marid.adapters.store.layout import Layout, Place
from marid.core.conversation import Storage
from marid.core.entry import ARCHIVAL, Entry


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Layout(str(tmp_path)).place("c")
    Path(place.transcript()).mkdir(parents=True)
    return place


def pair(number: int, kind: str = "m", content: str = "abcd") -> tuple[Entry, bytes]:
    entry = Entry(entry_type=kind, content=content, sequence=number, time_ms=number * 1000)
    return entry, encode(entry)


def filled(place: Place, storage: Storage) -> Active:
    active = Active(place, storage)
    active.take_stock(10)
    active.append([pair(11)])
    active.append([pair(12, ARCHIVAL), pair(13)])
    return active


def test_it_counts_as_it_grows_and_counts_the_same_when_it_is_read(place: Place) -> None:
    active = filled(place, Storage())
    start = len(pair(11)[1])
    assert active.tally == Tally(last=13, held=3, tokens=6, first_ts=11, anchor=start, before=11)
    again = Active(place, Storage())
    assert again.take_stock(10) == active.read()
    assert again.tally == active.tally
    active.close()
    again.close()


def test_an_empty_file_begins_where_the_last_holder_noted(place: Place) -> None:
    assert first_number(place, pair(7)[1]) == 7
    assert first_number(place, b"") == 0
    active = filled(place, Storage())
    active.close()
    assert first_number(place, b"") == 0, "the note is about a file with entries"
    empty = Active(place, Storage())
    empty.take_stock(10)
    Path(place.active).unlink()
    empty.renew()
    empty.close()
    assert first_number(place, b"") == 14
    assert first_number(place, b"rubbish\n") == 0
    empty.forget_note()
    assert first_number(place, b"") == 0


def test_what_was_noted_spares_the_reading_only_while_it_is_true(place: Place) -> None:
    active = filled(place, Storage())
    active.close()
    noted = Path(place.transcript("active.mark"))
    # A note that says something else shows that it is believed.
    mark = json.loads(noted.read_bytes())
    noted.write_text(json.dumps(mark | {"tokens": 99}))
    believed = Active(place, Storage())
    believed.take_stock(10)
    assert believed.tally.tokens == 99
    believed.append([pair(14)])
    again = Active(place, Storage())
    again.take_stock(10)
    assert again.tally.tokens == 101
    for wrong in ({"size": 9999}, {"crc": 1}, {"bytes_per_token": 9}, {"last": 50}, {"tokens": "x"}):
        noted.write_text(json.dumps(mark | {"tokens": 99} | wrong))
        doubted = Active(place, Storage())
        doubted.take_stock(10)
        assert doubted.tally.tokens == 8
        noted.write_bytes(b"{}")
        believed.close()


@pytest.mark.parametrize(
    ("storage", "now", "full"),
    [
        (Storage(), 13, False),
        (Storage(partition_max_entries=4), 13, False),
        (Storage(partition_max_entries=3), 13, True),
        (Storage(partition_max_tokens=7), 13, False),
        (Storage(partition_max_tokens=6), 13, True),
        (Storage(partition_max_age_seconds=60), 70, False),
        (Storage(partition_max_age_seconds=60), 71, True),
        (Storage(partition_max_age_seconds=60), -40, False),
        (Storage(partition_max_age_seconds=60), -1_000_000, True),  # the clock was ahead, and was set right
        (Storage(partition_max_tokens=4, bytes_per_token=4), 13, False),
    ],
)
def test_it_is_full_when_a_limit_is_reached(place: Place, storage: Storage, now: float, full: bool) -> None:
    """Detail 5: limits count with `>=`, after the append."""
    active = filled(place, storage)
    assert active.is_full(now) is full
    active.close()


def test_an_empty_file_and_one_without_times_are_not_full_by_age(place: Place) -> None:
    active = Active(place, Storage(partition_max_age_seconds=60))
    active.take_stock(0)
    assert not active.is_full(1e12)
    active.append([(Entry(entry_type="m", sequence=1), b'{"sequence":1}\n')])
    assert not active.is_full(1e12)
    active.close()


def test_a_line_that_cannot_be_read_is_told_with_its_place(place: Place) -> None:
    Path(place.active).write_bytes(pair(1)[1] + b"rubbish\n" + pair(2)[1])
    active = Active(place, Storage())
    active.take_stock(0)
    assert [problem.partition(" of ")[0] for problem in active.problems] == ["line 2"]
    assert active.tally.held == 2
    active.close()


def test_a_new_file_is_not_begun_over_another(place: Place) -> None:
    active = filled(place, Storage())
    with pytest.raises(FileExistsError):
        active.renew()
    Path(place.active).rename(place.transcript("old"))
    active.renew()
    assert active.tally == Tally(13)
    active.close()
