"""The manifest of the partitions, and the filters over their ids and words."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.adapters.store import partition_index
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.partition_index import FilterFrame, Manifest, PartitionRow, encode_row, parse_row
from marid.core.conversation.records import Corrupt, StorageSettings

ROW = PartitionRow(
    file="partitions/1-2.jsonl",
    start_ts=1,
    end_ts=2,
    entry_count=1,
    token_count=0,
    first_sequence=1,
    last_sequence=1,
    anchor_sequence=0,
    size=10,
)


@pytest.mark.parametrize("rows", [[], [ROW], [ROW, {**ROW, "prompt_count": 3}]])
def test_it_comes_back_with_the_fields_of_others(paths: ConversationPaths, rows: list[PartitionRow]) -> None:
    known = Manifest(rows=tuple(map(encode_row, rows)), stamp=7, extra={"other": 1})
    partition_index.save_manifest(paths, known, StorageSettings(partition_max_entries=5))
    found = partition_index.load_manifest(paths)
    assert found == known
    assert list(map(parse_row, found.rows)) == rows
    whole = json.loads(Path(paths.transcript_file("manifest.json")).read_bytes())
    assert (whole["version"], whole["active_partition"]) == (1, "active.jsonl")
    assert whole["rotation_policy"]["max_entries"] == 5


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version":2,"partitions":[]}', '{"version":1}'])
def test_one_that_makes_no_sense_is_as_none(paths: ConversationPaths, text: str) -> None:
    Path(paths.transcript_file("manifest.json")).write_text(text)
    assert partition_index.load_manifest(paths) == Manifest()


def test_the_limits_that_another_program_has_written_survive(paths: ConversationPaths) -> None:
    policy = {"max_entries": 9, "max_mood": 5}
    theirs = json.dumps({"version": 1, "partitions": [], "rotation_policy": policy})
    Path(paths.transcript_file("manifest.json")).write_text(theirs)
    partition_index.save_manifest(paths, partition_index.load_manifest(paths), StorageSettings(partition_max_entries=5))
    policy = json.loads(Path(paths.transcript_file("manifest.json")).read_bytes())["rotation_policy"]
    assert (policy["max_entries"], policy["max_mood"]) == (5, 5)
    assert partition_index.load_manifest(paths).extra == {"rotation_policy": {"max_mood": 5}}


def test_that_of_another_program_only_tells_the_order(paths: ConversationPaths) -> None:
    rows = [{"file": "partitions/b.jsonl"}, 5, {"file": "partitions/a.jsonl", "bloom_file": "x"}]
    Path(paths.transcript_file("manifest.json")).write_text(json.dumps({"version": 1, "partitions": rows, "keep": 1}))
    listed: dict[str, dict[str, object]] = {"partitions/b.jsonl": {}, "partitions/a.jsonl": {"bloom_file": "x"}}
    assert partition_index.load_manifest(paths) == Manifest(foreign_rows=listed, extra={"keep": 1})
    assert list(partition_index.load_manifest(paths).foreign_rows) == list(listed)


@pytest.mark.parametrize(
    "file",
    ["../x.jsonl", "/etc/x.jsonl", "partitions/../x.jsonl", "partitions/a/b.jsonl", "x.jsonl", "partitions/x\0.jsonl"],
)
def test_a_row_names_a_partition_or_is_none(paths: ConversationPaths, file: str) -> None:
    rows = (encode_row({**ROW, "file": file}),)
    partition_index.save_manifest(paths, Manifest(rows=rows, stamp=7), StorageSettings())
    with pytest.raises(Corrupt, match="not a partition"):
        _ = partition_index.load_manifest(paths).last_sequence
    Path(paths.transcript_file("manifest.json")).write_text(
        json.dumps({"version": 1, "stamp": 7, "partitions": [{**ROW, "file": file}]})
    )
    assert partition_index.load_manifest(paths).rows == ()


def row(file: str = "p", size: int = 10) -> PartitionRow:
    return {**ROW, "file": file, "size": size}


def test_a_filter_is_never_wrong_about_a_hundred_thousand_ids_and_seldom_about_others() -> None:
    ids = [f"id-{number}" for number in range(100_000)]
    frame = FilterFrame(10, partition_index.build_filter(ids))
    assert partition_index.may_contain(frame, row(), ids)
    assert sum(partition_index.may_contain(frame, row(), [f"other-{number}"]) for number in range(1000)) < 20


def test_hashes_are_the_same_in_every_run() -> None:
    assert partition_index.build_filter(["a", "b"]) == partition_index.build_filter(["b", "a"])
    assert partition_index._hash_function()("a") == 167863191109824881737557337713797940007  # pyright: ignore[reportPrivateUsage]


def test_no_filter_or_one_for_another_size_rules_nothing_out() -> None:
    frame = FilterFrame(10, partition_index.build_filter(["a"]))
    assert not partition_index.may_contain(frame, row(), ["b"])
    assert partition_index.may_contain(None, row(), ["b"])
    assert partition_index.may_contain(frame, row(size=11), ["b"])
    assert partition_index.may_contain(frame, row(), [])


@pytest.mark.parametrize("at", [0, 2, 5, 9, 15, 25])
def test_a_damaged_frame_is_left_out_and_the_others_stay(tmp_path: Path, at: int) -> None:
    path = str(tmp_path / "f")
    assert partition_index.load_frames(path) == {}
    for name in ("one", "two", "three"):
        partition_index.append_frame(path, row(name), [name])
    whole = partition_index.load_frames(path)
    assert set(whole) == {"one", "two", "three"}
    data = bytearray((tmp_path / "f").read_bytes())
    data[data.index(b"mrd2", 1) + at] ^= 0x55
    (tmp_path / "f").write_bytes(data)
    left = partition_index.load_frames(path)
    assert {"one", "three"} <= set(left)
    assert all(frame == whole[name] for name, frame in left.items() if name in whole and name != "two")
    (tmp_path / "f").write_bytes(data[: len(data) // 2])
    assert set(partition_index.load_frames(path)) <= {"one", "two"}
    partition_index.rewrite_frames(path, {"one": whole["one"]})
    assert partition_index.load_frames(path) == {"one": whole["one"]}


def test_words_are_runs_of_letters_and_digits_in_any_case() -> None:
    assert partition_index.words_of("Straße, foo_BAR-2 é!") == {"strasse", "foo", "bar", "2", "é"}
    assert partition_index.words_of("...") == set()


@given(st.text(alphabet="abÉs_- ß1İ", max_size=30), st.data())
def test_every_part_of_a_text_is_sought_only_by_what_the_text_has(text: str, data: st.DataObject) -> None:
    known = partition_index.search_terms(text)
    assert partition_index.query_terms(text, whole_words=True) <= known
    folded = text.casefold()
    start = data.draw(st.integers(0, len(folded)))
    part = folded[start : data.draw(st.integers(start, len(folded)))]
    assert partition_index.query_terms(part, whole_words=False) <= known


def test_a_part_is_sought_by_its_pieces_and_what_is_whole_in_it_by_the_word() -> None:
    assert partition_index.query_terms("Orl ab", whole_words=False) == {"~orl"}
    assert partition_index.query_terms("x-orld-y", whole_words=False) == {"orld"}
    assert partition_index.query_terms("orld", whole_words=False) == {"~orl", "~rld"}
    assert partition_index.search_terms("worl") == {"worl", "~wor", "~orl"}


def test_a_filter_beside_a_partition_is_read_and_what_is_no_filter_of_ours_is_none(tmp_path: Path) -> None:
    partition = str(tmp_path / "1-2.jsonl")
    assert partition_index.sidecar_frame(partition, partition_index.WORDS_FILE) is None
    frames = {
        partition_index.WORDS_FILE: FilterFrame(10, partition_index.build_filter(["a"])),
        partition_index.IDS_FILE: FilterFrame(10, partition_index.build_filter(["b"])),
    }
    partition_index.rewrite_frames(str(tmp_path / "1-2.bloom"), frames)
    assert {kind: partition_index.sidecar_frame(partition, kind) for kind in frames} == frames
    (tmp_path / "1-2.bloom").write_text('{"bits":[1,2],"num_hashes":7}')
    assert partition_index.sidecar_frame(partition, partition_index.WORDS_FILE) is None
    (tmp_path / "1-2.bloom").unlink()
    (tmp_path / "1-2.bloom").mkdir()
    assert partition_index.sidecar_frame(partition, partition_index.WORDS_FILE) is None
