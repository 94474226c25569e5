"""A slice is found again, or not at all; never in the wrong place."""

import json
from dataclasses import replace
from time import process_time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.text.edit.text_anchors import TextAnchor, anchor_lines, locate_anchor

SHOP = """\
import os


class Shop:
    def __init__(self, name):
        self.name = name
        self.items = []

    def total(self, items):
        result = 0
        for item in items:
            result += item.price
        return result

    def close(self):
        self.items.clear()
        print("closed")


def main():
    Shop("x").close()
"""
TOTAL = anchor_lines(SHOP, 9, 13)

words = st.text("abcdefgh (){}:=.\t", max_size=12)
short = st.sampled_from(["", "a", "b", "}", "  return x", "\tx = 1"])
texts = st.lists(words | short, min_size=1, max_size=30)
places = st.tuples(st.integers(0, 100), st.integers(0, 100))


def sliced(lines: list[str], place: tuple[int, int]) -> tuple[int, int]:
    """A slice of the lines, from 0 and exclusive."""
    start, end = sorted(each % len(lines) for each in place)
    return start, end + 1


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def copies(lines: list[str], block: list[str]) -> int:
    return sum(lines[at : at + len(block)] == block for at in range(len(lines) - len(block) + 1))


@given(texts, places)
def test_in_the_same_text_a_slice_is_where_it_was(lines: list[str], place: tuple[int, int]) -> None:
    start, end = sliced(lines, place)
    assert locate_anchor(joined(lines), anchor_lines(joined(lines), start + 1, end)) == (start + 1, end)


@given(texts, places, texts, texts)
def test_whatever_changes_around_it_a_unique_slice_is_found(
    lines: list[str], place: tuple[int, int], above: list[str], below: list[str]
) -> None:
    start, end = sliced(lines, place)
    block = lines[start:end]
    changed = [*above, *block, *below]
    assume(copies(lines, block) == 1 == copies(changed, block))
    found = locate_anchor(joined(changed), anchor_lines(joined(lines), start + 1, end))
    assert found == (len(above) + 1, len(above) + len(block))


@given(texts, places, st.lists(st.tuples(st.integers(0, 100), words | st.none()), max_size=8))
def test_inserting_and_deleting_lines_outside_a_unique_slice_never_loses_it(
    lines: list[str], place: tuple[int, int], edits: list[tuple[int, str | None]]
) -> None:
    start, end = sliced(lines, place)
    block, anchor = lines[start:end], anchor_lines(joined(lines), start + 1, end)
    before, after = lines[:start], lines[end:]
    for number, line in edits:
        part = before if number % 2 else after
        at = number % (len(part) + 1)
        part[at : at + (line is None)] = [] if line is None else [line]
    changed = [*before, *block, *after]
    assume(copies(lines, block) == 1 == copies(changed, block))
    assert locate_anchor(joined(changed), anchor) == (len(before) + 1, len(before) + len(block))


@given(
    size=st.integers(12, 40),
    place=st.tuples(st.integers(3, 8), st.integers(5, 20)),
    inner=st.lists(st.text("uvwxyz", min_size=1), max_size=12),
)
def test_edits_inside_keep_the_borders(size: int, place: tuple[int, int], inner: list[str]) -> None:
    lines = [f"{chr(97 + number % 20) * 4} line number {number * 7919} stands here" for number in range(size)]
    start, length = place
    end = min(start + length, size - 3)
    assume(end - start >= 4)
    changed = [*lines[: start + 1], *inner, *lines[end - 1 :]]
    found = locate_anchor(joined(changed), anchor_lines(joined(lines), start + 1, end))
    assert found == (start + 1, start + len(inner) + 2)


@given(texts, places, texts)
def test_unrelated_text_gives_nothing(lines: list[str], place: tuple[int, int], other: list[str]) -> None:
    start, end = sliced(lines, place)
    strange = ["0123456789"[len(line) % 10] * 7 + str(number) for number, line in enumerate(other)]
    found = locate_anchor(joined(strange), anchor_lines(joined(lines), start + 1, end))
    assert found is None


@given(texts, places, texts)
def test_what_is_found_is_always_in_the_text(lines: list[str], place: tuple[int, int], other: list[str]) -> None:
    start, end = sliced(lines, place)
    found = locate_anchor(joined(other), anchor_lines(joined(lines), start + 1, end))
    assert found is None or 1 <= found[0] <= found[1] <= len(other)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("total(self, items)", "sum_of(self, items)", (9, 13)),
        ("        result = 0\n", "        result = 0\n        count = 0\n", (9, 14)),
        ("            result += item.price\n", "", (9, 12)),
        ("        for item in items:\n            result += item.price\n", "        result = sum(items)\n", (9, 12)),
        ("        return result\n", "        return round(result)\n", (9, 13)),
        ("import os\n", "import os\nimport re\nimport sys\n", (11, 15)),
        ("    def total", "    @cached\n    def total", (10, 14)),
        ("result", "value", (9, 13)),
    ],
)
def test_an_edited_function_is_found(old: str, new: str, found: tuple[int, int]) -> None:
    assert locate_anchor(SHOP.replace(old, new), TOTAL) == found


def test_a_block_that_was_indented_moved_or_respaced_is_found() -> None:
    lines = SHOP.split("\n")
    wrapped = [*lines[:8], "    if True:", *("    " + line for line in lines[8:13]), *lines[13:]]
    assert locate_anchor("\n".join(wrapped), TOTAL) == (10, 14)
    lines = SHOP.split("\n")
    moved = [*lines[:8], *lines[14:19], *lines[8:13], *lines[19:]]
    assert locate_anchor("\n".join(moved), TOTAL) == (14, 18)
    assert locate_anchor(SHOP.replace("\n", "\r\n"), TOTAL) == (9, 13)
    assert locate_anchor(SHOP.replace("    ", "\t"), TOTAL) == (9, 13)


def test_a_deleted_slice_is_not_found() -> None:
    lines = SHOP.split("\n")
    assert locate_anchor("\n".join([*lines[:8], *lines[13:]]), TOTAL) is None
    assert locate_anchor("", TOTAL) is None


def test_a_deleted_slice_is_not_taken_for_another_that_looked_like_it_before() -> None:
    one = (
        "def test_{0}():\n    shop = Shop()\n    shop.open()\n    assert shop.{0}\n    shop.close()\n    check()\n\n\n"
    )
    text = "".join(one.format(name) for name in ("size", "name", "place"))
    anchor = anchor_lines(text, 9, 14)
    assert anchor.rival > 0.5
    assert locate_anchor(one.format("size") + one.format("place"), anchor) is None


def test_with_one_copy_gone_the_other_is_not_taken_for_it() -> None:
    block = "def reader(lines):\n    for line in lines:\n        yield line\n"
    text = f"import alpha\nSIZE = 1\n{block}use(reader, SIZE)\n\n\nclass B:\n    pass\n{block}done = True\n"
    anchor = anchor_lines(text, 3, 5)
    assert anchor.copies == 2
    changed = text.replace("yield line", "yield line.strip()", 1)
    assert locate_anchor(changed, anchor) == (3, 5)
    assert locate_anchor(text.replace(block, "", 1), anchor) is None


def test_of_several_copies_the_one_in_the_same_surroundings_is_taken_then_the_nearest() -> None:
    text = "a\nsame\nb\n\nc\nsame\nd\n"
    assert locate_anchor("new\n" * 5 + text, anchor_lines(text, 2, 2)) == (7, 7)
    assert locate_anchor("new\n" * 5 + text, anchor_lines(text, 6, 6)) == (11, 11)
    assert locate_anchor("same\n" * 50, anchor_lines("same\n" * 50, 20, 22)) == (20, 22)


def test_two_equally_good_places_give_none() -> None:
    changed = SHOP.replace("result = 0", "result = 1")
    assert locate_anchor(changed + changed, TOTAL) is None


def test_text_that_cannot_be_encoded_has_anchors_too() -> None:
    text = "a\n\udcff\nb\n"
    assert locate_anchor("new\n" + text, anchor_lines(text, 2, 2)) == (3, 3)


def test_long_lines_are_remembered_in_part() -> None:
    text = "x" * 100_000 + "\n" + "y" * 100_000 + "\nz\n"
    anchor = anchor_lines(text, 1, 2)
    assert len(json.dumps(anchor.to_dict())) < 3_000
    assert locate_anchor("new\n" + text, anchor) == (2, 3)


@given(texts, places)
def test_an_anchor_survives_json(lines: list[str], place: tuple[int, int]) -> None:
    start, end = sliced(lines, place)
    anchor = anchor_lines(joined(lines), start + 1, end)
    assert TextAnchor.from_dict(json.loads(json.dumps(anchor.to_dict()))) == anchor


def test_an_anchor_without_what_was_added_later_is_still_read() -> None:
    raw = {name: value for name, value in TOTAL.to_dict().items() if name not in ("copies", "rival")}
    assert TextAnchor.from_dict(raw) == replace(TOTAL, copies=1, rival=0.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("start", "1"),
        ("start", 0),
        ("end", None),
        ("end", 1),
        ("digest", 7),
        ("digest", "not hexadecimal"),
        ("head", "text"),
        ("tail", [1]),
        ("before", None),
        ("copies", "many"),
        ("rival", []),
    ],
)
def test_what_cannot_be_an_anchor_is_refused(field: str, value: object) -> None:
    with pytest.raises(BadInput, match="anchor"):
        TextAnchor.from_dict({**TOTAL.to_dict(), field: value})


@pytest.mark.parametrize("line", ["    value = {0} * factor", "same", "}}", "    item {1}"])
def test_fifty_thousand_lines_take_no_time(line: str) -> None:
    lines = [line.format(number, number % 100) for number in range(50_000)]
    start = process_time()
    anchor = anchor_lines(joined(lines), 20_000, 30_000)
    locate_anchor(joined(["new"] * 300 + lines), anchor)
    locate_anchor(joined([*lines[:25_000], "changed", *lines[25_000:]]), anchor)
    locate_anchor(joined(["other"] * 50_000), anchor)
    assert process_time() - start < 8
