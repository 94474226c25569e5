from collections.abc import Iterator

from fakes.readers import item
from marid.assembly.formats.text_format import TextFormat
from marid.assembly.items import ContextItem
from marid.assembly.pack import pack
from marid.core.context import Level
from marid.core.events import ContextEvent, PackProgress


def test_nothing_waits_beyond_a_megabyte() -> None:
    body = b"x" * 700_000
    batches = list(pack((), (item(str(n), body) for n in range(5)), TextFormat(), lambda _: None))
    assert [sum(body in piece for piece in batch) for batch in batches] == [2, 2, 1]


def test_many_small_files_are_written_in_batches_too() -> None:
    batches = list(pack((), (item(str(n), b"x") for n in range(1000)), TextFormat(), lambda _: None))
    assert len(batches) > 2
    assert all(len(batch) <= 1003 for batch in batches)


def test_progress_is_told_after_each_batch_and_at_the_end() -> None:
    told: list[ContextEvent] = []
    items = [item(str(n), b"x" * 600_000) for n in range(3)]
    for _ in pack((), items, TextFormat(), told.append):
        pass
    assert told == [PackProgress(files=2, bytes=1_200_000), PackProgress(files=3, bytes=1_800_000)]


def test_files_are_taken_only_as_they_are_asked_for() -> None:
    taken: list[str] = []

    def items() -> Iterator[ContextItem]:
        for name in "abc":
            taken.append(name)
            yield item(name, b"x" * 2_000_000)

    next(pack((), items(), TextFormat(), lambda _: None))
    assert taken == ["a"]


def test_names_count_as_files() -> None:
    told: list[ContextEvent] = []
    list(pack((), [item("a", b"")._replace(level=Level.NAME)], TextFormat(), told.append))
    assert told == [PackProgress(files=1, bytes=0)]
