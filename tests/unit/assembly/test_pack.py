from collections.abc import Iterator

from fakes.context_formats import item
from marid.assembly.formats.text_format import TextFormat
from marid.assembly.items import ContextItem, Section, Tally
from marid.assembly.pack import pack
from marid.core.context import Level


def test_no_more_than_about_a_megabyte_waits() -> None:
    body = b"x" * 700_000
    batches = list(pack((), (item(str(n), body) for n in range(5)), TextFormat()))
    assert [sum(body in piece for piece in batch.buffers) for batch in batches] == [2, 2, 1]
    assert [batch.tally.files for batch in batches] == [2, 2, 1]


def test_many_small_files_are_written_in_batches_too() -> None:
    batches = list(pack((), (item(str(n), b"x") for n in range(1000)), TextFormat()))
    assert len(batches) > 2
    assert all(len(batch.buffers) <= 1003 for batch in batches)


def test_each_batch_has_its_own_tally() -> None:
    items = [item(str(n), b"x" * 600_000)._replace(masked=n, tokens=n or None) for n in range(3)]
    items.append(item("a", b"", 7)._replace(level=Level.NAME))
    sections = [Section("git_log", "Log", b"x", masked=5)]
    assert [batch.tally for batch in pack(sections, items, TextFormat())] == [
        Tally(files=2, bytes=1_200_000, size=1_200_000, masked=6, tokens=1),
        Tally(files=2, bytes=600_000, size=600_007, masked=2, tokens=2),
    ]


def test_tallies_add_up() -> None:
    assert Tally(1, 2, 3, 4, 5, 6).plus(Tally(files=1, problems=1)) == Tally(2, 2, 3, 4, 5, 7)
    assert Tally(tokens=1).plus(Tally()).plus(Tally(tokens=2)).tokens == 3


def test_files_are_taken_only_as_they_are_asked_for() -> None:
    taken: list[str] = []

    def items() -> Iterator[ContextItem]:
        for name in "abc":
            taken.append(name)
            yield item(name, b"x" * 2_000_000)

    next(pack((), items(), TextFormat()))
    assert taken == ["a"]
