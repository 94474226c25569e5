"""In which order partitions follow one another."""

from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.partitions import SequenceSpan, order_partitions, span_of
from marid.core.conversation.entry import Entry

BARE = b'{"timestamp":7,"content":"x"}\n'


def span(file: str, begin: int = 0, count: int = 2, time_ms: int = 5) -> SequenceSpan:
    return SequenceSpan(begin, begin + count - 1 if begin else 0, time_ms, file, count)


def numbered(*numbers: int) -> bytes:
    return b"".join(encode_line(Entry(entry_type="m", sequence=number, time_ms=9)) for number in numbers)


def test_a_partition_tells_its_numbers_if_it_has_any() -> None:
    assert span_of("f", numbered(4, 5, 9)) == SequenceSpan(4, 9, 9, "f", 3)
    assert span_of("f", BARE * 2) == SequenceSpan(0, 0, 7000, "f", 2)
    assert span_of("f", b"rubbish\n") == SequenceSpan(0, 0, 0, "f", 0)
    # As when another program has begun it: its entries have the numbers before.
    assert span_of("f", BARE * 2 + numbered(8, 9)) == SequenceSpan(6, 9, 7000, "f", 4)


def test_numbers_decide_whoever_has_listed_what() -> None:
    others = [span("c", 5), span("a", 1), span("b", 3)]
    assert order_partitions([], others, {"b": 0, "c": 0}) == ["a", "b", "c"]
    assert order_partitions([span("b", 3)], [span("c", 5), span("a", 1)], {}) == ["a", "b", "c"]


def test_those_without_numbers_follow_as_they_are_listed_and_then_by_their_time() -> None:
    others = [span("a", time_ms=1), span("b", time_ms=2), span("c", time_ms=3), span("d", time_ms=4)]
    assert order_partitions([], others, {"d": 0, "b": 0}) == ["d", "b", "a", "c"]


def test_those_without_numbers_go_where_numbers_are_missing() -> None:
    """As in a conversation that another program has begun, and gone on with: its entries had these numbers."""
    bare = [span("mid", time_ms=4, count=3), span("old2", time_ms=2), span("old1", time_ms=1)]
    others = [span("new", 5, time_ms=3), span("newest", 10, time_ms=5), *bare]
    assert order_partitions([], others, {}) == ["old1", "old2", "new", "mid", "newest"]


def test_those_without_numbers_fill_no_gap_that_is_older_than_they_are() -> None:
    """The defect: where the oldest partition was deleted, the newest ones of another program took its place."""
    placed = [span("m2", 4, time_ms=2), span("m3", 6, time_ms=3)]
    bare = [span("c1", time_ms=4), span("c2", time_ms=5), span("c0", time_ms=1)]
    assert order_partitions([], placed + bare, {}) == ["c0", "m2", "m3", "c1", "c2"]
    listed = dict.fromkeys(["m2", "m3", "c0", "c1", "c2"], 0)
    assert order_partitions([], placed + bare, listed) == ["m2", "m3", "c0", "c1", "c2"]
    assert order_partitions([], placed + bare, dict.fromkeys(["c2", "m2", "c1", "m3"], 0)) == [
        "c2",
        "c0",
        "m2",
        "c1",
        "m3",
    ]


def test_of_one_time_they_fill_the_gap() -> None:
    others = [span("a", 1), span("b", 6), span("x", count=3)]
    assert order_partitions([], others, {}) == ["a", "x", "b"]


def test_those_for_which_no_numbers_are_missing_go_by_their_time() -> None:
    others = [span("a", 1, time_ms=1), span("b", 3, time_ms=3), span("x", time_ms=2), span("y", time_ms=9)]
    assert order_partitions([], others, {}) == ["a", "x", "b", "y"]


def test_a_copy_comes_last_and_so_does_what_has_no_numbers_where_they_are_known() -> None:
    others = [span("copy", 1), span("z", 5), span("bare", time_ms=1)]
    assert order_partitions([span("a", 1), span("b", 3)], others, {}) == ["a", "b", "z", "bare", "copy"]
    assert order_partitions([], [span("a", 1), span("b", 3), span("over", 2)], {}) == ["a", "b", "over"]
