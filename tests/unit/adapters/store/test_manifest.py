"""The list of partitions."""

import json
from pathlib import Path

import pytest

from marid.adapters.store import manifest
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.manifest import Manifest, PartitionRow, encode_rows
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
    manifest.save(
        paths, Manifest(rows=encode_rows(rows), stamp=7, extra={"other": 1}), StorageSettings(partition_max_entries=5)
    )
    found = manifest.load(paths)
    assert found == Manifest(rows=encode_rows(rows), stamp=7, extra={"other": 1})
    assert list(found.rows) == list(found.rows[:]) == rows
    whole = json.loads(Path(paths.transcript_file("manifest.json")).read_bytes())
    assert (whole["version"], whole["active_partition"]) == (1, "active.jsonl")
    assert whole["rotation_policy"]["max_entries"] == 5


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version":2,"partitions":[]}', '{"version":1}'])
def test_one_that_makes_no_sense_is_as_none(paths: ConversationPaths, text: str) -> None:
    Path(paths.transcript_file("manifest.json")).write_text(text)
    assert manifest.load(paths) == Manifest()


def test_the_limits_that_another_program_has_written_survive(paths: ConversationPaths) -> None:
    policy = {"max_entries": 9, "max_mood": 5}
    theirs = json.dumps({"version": 1, "partitions": [], "rotation_policy": policy})
    Path(paths.transcript_file("manifest.json")).write_text(theirs)
    manifest.save(paths, manifest.load(paths), StorageSettings(partition_max_entries=5))
    policy = json.loads(Path(paths.transcript_file("manifest.json")).read_bytes())["rotation_policy"]
    assert (policy["max_entries"], policy["max_mood"]) == (5, 5)
    assert manifest.load(paths).extra == {"rotation_policy": {"max_mood": 5}}


def test_that_of_another_program_only_tells_the_order(paths: ConversationPaths) -> None:
    rows = [{"file": "partitions/b.jsonl"}, 5, {"file": "partitions/a.jsonl", "bloom_file": "x"}]
    Path(paths.transcript_file("manifest.json")).write_text(json.dumps({"version": 1, "partitions": rows, "keep": 1}))
    listed: dict[str, dict[str, object]] = {"partitions/b.jsonl": {}, "partitions/a.jsonl": {"bloom_file": "x"}}
    assert manifest.load(paths) == Manifest(foreign_rows=listed, extra={"keep": 1})
    assert list(manifest.load(paths).foreign_rows) == list(listed)


def test_the_stamp_changes_with_the_folder(paths: ConversationPaths) -> None:
    assert manifest.folder_stamp(paths) > 0
    Path(paths.partitions).rmdir()
    assert manifest.folder_stamp(paths) == 0


@pytest.mark.parametrize(
    "file",
    ["../x.jsonl", "/etc/x.jsonl", "partitions/../x.jsonl", "partitions/a/b.jsonl", "x.jsonl", "partitions/x\0.jsonl"],
)
def test_a_row_names_a_partition_or_is_none(paths: ConversationPaths, file: str) -> None:
    manifest.save(paths, Manifest(rows=encode_rows([{**ROW, "file": file}]), stamp=7), StorageSettings())
    with pytest.raises(Corrupt, match="not a partition"):
        _ = manifest.load(paths).rows[0]
    Path(paths.transcript_file("manifest.json")).write_text(
        json.dumps({"version": 1, "stamp": 7, "partitions": [{**ROW, "file": file}]})
    )
    assert list(manifest.load(paths).rows) == []
