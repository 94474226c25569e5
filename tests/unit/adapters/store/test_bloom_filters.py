"""Filters never say no to what is there."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.adapters.store import bloom_filters
from marid.adapters.store.bloom_filters import FilterFrame
from marid.adapters.store.manifest import PartitionRow


def row(file: str = "p", size: int = 10) -> PartitionRow:
    return PartitionRow(
        file=file,
        start_ts=0,
        end_ts=0,
        entry_count=1,
        token_count=0,
        first_sequence=1,
        last_sequence=1,
        anchor_sequence=0,
        size=size,
    )


@given(st.sets(st.text(max_size=10), max_size=50))
def test_a_filter_knows_all_that_was_put_in(items: set[str]) -> None:
    frame = FilterFrame(10, bloom_filters.build_filter(items))
    assert all(bloom_filters.may_contain(frame, row(), [item]) for item in items)
    assert bloom_filters.may_contain(frame, row(), items)


def test_a_filter_is_never_wrong_about_a_hundred_thousand_ids_and_seldom_about_others() -> None:
    ids = [f"id-{number}" for number in range(100_000)]
    frame = FilterFrame(10, bloom_filters.build_filter(ids))
    assert bloom_filters.may_contain(frame, row(), ids)
    assert sum(bloom_filters.may_contain(frame, row(), [f"other-{number}"]) for number in range(1000)) < 20


def test_hashes_are_the_same_in_every_run() -> None:
    assert bloom_filters.build_filter(["a", "b"]) == bloom_filters.build_filter(["b", "a"])
    assert bloom_filters._hash_function()("a") == 167863191109824881737557337713797940007  # pyright: ignore[reportPrivateUsage]


def test_no_filter_or_one_for_another_size_rules_nothing_out() -> None:
    frame = FilterFrame(10, bloom_filters.build_filter(["a"]))
    assert not bloom_filters.may_contain(frame, row(), ["b"])
    assert bloom_filters.may_contain(None, row(), ["b"])
    assert bloom_filters.may_contain(frame, row(size=11), ["b"])
    assert bloom_filters.may_contain(frame, row(), [])


@pytest.mark.parametrize("at", [0, 2, 5, 9, 15, 25])
def test_a_damaged_frame_is_left_out_and_the_others_stay(tmp_path: Path, at: int) -> None:
    path = str(tmp_path / "f")
    assert bloom_filters.load_frames(path) == {}
    for name in ("one", "two", "three"):
        bloom_filters.append_frame(path, row(name), [name])
    whole = bloom_filters.load_frames(path)
    assert set(whole) == {"one", "two", "three"}
    data = bytearray((tmp_path / "f").read_bytes())
    data[data.index(b"mrd2", 1) + at] ^= 0x55
    (tmp_path / "f").write_bytes(data)
    left = bloom_filters.load_frames(path)
    assert {"one", "three"} <= set(left)
    assert all(frame == whole[name] for name, frame in left.items() if name in whole and name != "two")
    (tmp_path / "f").write_bytes(data[: len(data) // 2])
    assert set(bloom_filters.load_frames(path)) <= {"one", "two"}
    bloom_filters.rewrite_frames(path, {"one": whole["one"]})
    assert bloom_filters.load_frames(path) == {"one": whole["one"]}


def test_words_are_runs_of_letters_and_digits_in_any_case() -> None:
    assert bloom_filters.words_of("Straße, foo_BAR-2 é!") == {"strasse", "foo", "bar", "2", "é"}
    assert bloom_filters.words_of("...") == set()


@given(st.text(alphabet="abÉs_- ß1İ", max_size=30), st.data())
def test_every_part_of_a_text_is_sought_only_by_what_the_text_has(text: str, data: st.DataObject) -> None:
    known = bloom_filters.search_terms(text)
    assert bloom_filters.query_terms(text, whole_words=True) <= known
    folded = text.casefold()
    start = data.draw(st.integers(0, len(folded)))
    part = folded[start : data.draw(st.integers(start, len(folded)))]
    assert bloom_filters.query_terms(part, whole_words=False) <= known


def test_a_part_is_sought_by_its_pieces_and_what_is_whole_in_it_by_the_word() -> None:
    assert bloom_filters.query_terms("Orl ab", whole_words=False) == {"~orl"}
    assert bloom_filters.query_terms("x-orld-y", whole_words=False) == {"orld"}
    assert bloom_filters.query_terms("orld", whole_words=False) == {"~orl", "~rld"}
    assert bloom_filters.search_terms("worl") == {"worl", "~wor", "~orl"}


def test_a_filter_beside_a_partition_is_read_and_what_is_no_filter_of_ours_is_none(tmp_path: Path) -> None:
    partition = str(tmp_path / "1-2.jsonl")
    assert bloom_filters.sidecar_frame(partition, bloom_filters.WORDS_FILE) is None
    frames = {
        bloom_filters.WORDS_FILE: FilterFrame(10, bloom_filters.build_filter(["a"])),
        bloom_filters.IDS_FILE: FilterFrame(10, bloom_filters.build_filter(["b"])),
    }
    bloom_filters.rewrite_frames(str(tmp_path / "1-2.bloom"), frames)
    assert {kind: bloom_filters.sidecar_frame(partition, kind) for kind in frames} == frames
    (tmp_path / "1-2.bloom").write_text('{"bits":[1,2],"num_hashes":7}')
    assert bloom_filters.sidecar_frame(partition, bloom_filters.WORDS_FILE) is None
    (tmp_path / "1-2.bloom").unlink()
    (tmp_path / "1-2.bloom").mkdir()
    assert bloom_filters.sidecar_frame(partition, bloom_filters.WORDS_FILE) is None
