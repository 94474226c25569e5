"""The full partitions of a transcript: looked through only when their folder has changed, read in order."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, cast

from marid.adapters.store import bloom_filters, manifest
from marid.adapters.store.atomic_files import read_bytes, sync_folder
from marid.adapters.store.entry_lines import (
    EntryLine,
    entry_tokens,
    number_bad_lines,
    parse_lines,
    report_bad_lines,
    unreadable_message,
)
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.manifest import Manifest, PartitionRow, PartitionRows, encode_rows, foreign_row_fields
from marid.adapters.store.partition_order import SequenceSpan, order_partitions, span_of
from marid.core.conversation.entry import ANCHORS, Entry
from marid.core.conversation.records import StorageSettings
from marid.workspace.write.private_folders import make_private_folder

# What stands in a line as it is, however the line was written.
_UNESCAPED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


class PartitionContents(NamedTuple):
    """What a look into a partition has found."""

    row: PartitionRow
    ids: set[str]
    words: set[str]


def survey(paths: ConversationPaths, storage: StorageSettings, first: int) -> tuple[Manifest, bool]:
    """The partitions that are there, and whether the manifest on the disk is right about them. Raises: OSError.

    `first` is the number that the active file begins with, 0 when there is no entry in it: a clock that is too coarse
    to give the folder a new stamp must not hide a partition.
    """
    known = manifest.load(paths)
    stamp = manifest.folder_stamp(paths)
    last = known.rows[-1]["last_sequence"] if known.rows else 0
    if known.stamp == stamp and 0 < first <= last + 1:
        return known, True
    found = _rescan(paths, storage, known)._replace(stamp=stamp)
    return found, found == known


def has_all_filters(paths: ConversationPaths, storage: StorageSettings, known: Manifest) -> bool:
    """Whether every partition has its filters, if they are wanted; told by the sizes of files. Raises: OSError."""
    return not storage.enable_bloom_filters or not known.rows or known.filters == bloom_filters.filter_sizes(paths)


def save_survey(paths: ConversationPaths, storage: StorageSettings, now: Manifest) -> Manifest:
    """Write what `survey` has found, with a filter for each partition. Raises: OSError."""
    make_private_folder(paths.partitions)
    filters: tuple[int, ...] = ()
    if storage.enable_bloom_filters:
        _rebuild_filters(paths, storage, now.rows)
        filters = bloom_filters.filter_sizes(paths)
    now = now._replace(stamp=manifest.folder_stamp(paths), filters=filters)
    manifest.save(paths, now, storage)
    return now


def seal(paths: ConversationPaths, storage: StorageSettings, known: Manifest, data: bytes) -> Manifest:
    """Make a partition of the active file, whose content is `data`. Raises: OSError.

    Whatever stops this in the midst, the file is in one of its two places, and `survey` finds it there.
    """
    after = known.rows[-1]["last_sequence"] if known.rows else 0
    make_private_folder(paths.partitions)
    seen = examine("", data, after, storage)
    row = seen.row
    if not row["entry_count"]:
        return known
    row["file"] = _free_name(paths, row["start_ts"], row["end_ts"])
    os.rename(paths.active, paths.transcript_file(row["file"]))
    sync_folder(paths.partitions)
    sync_folder(paths.transcript_file())
    filters: tuple[int, ...] = ()
    if storage.enable_bloom_filters:
        _add_filters(paths, seen)
        filters = bloom_filters.filter_sizes(paths)
    rows = PartitionRows([*known.rows.encoded_rows, *encode_rows([row]).encoded_rows])
    now = known._replace(rows=rows, stamp=manifest.folder_stamp(paths), filters=filters)
    manifest.save(paths, now, storage)
    return now


def examine(file: str, data: bytes, after: int, storage: StorageSettings) -> PartitionContents:
    """Read a whole partition whose entries follow number `after`."""
    bad: list[int] = []
    found = [line.entry for line in parse_lines(data, before=after, on_bad=number_bad_lines(data, bad.append))]
    words: set[str] = set()
    if storage.enable_bloom_filters:
        words = bloom_filters.search_terms("\n".join(entry.content for entry in found))
    row = PartitionRow(
        file=file,
        start_ts=found[0].timestamp if found else 0,
        end_ts=found[-1].timestamp if found else 0,
        entry_count=len(found),
        token_count=sum(entry_tokens(entry, storage.bytes_per_token) for entry in found),
        first_sequence=found[0].sequence if found else after + 1,
        last_sequence=found[-1].sequence if found else after,
        anchor_sequence=max((entry.sequence for entry in found if entry.entry_type in ANCHORS), default=0),
        size=len(data),
    )
    if bad:
        row["unreadable"] = bad
    return PartitionContents(row, {entry.id for entry in found}, words)


def read_partition(
    paths: ConversationPaths, row: PartitionRow, key: str = "", on_problem: Callable[[str], None] | None = None
) -> Iterator[EntryLine]:
    """The entries of one partition; none when they surely do not have that id among them. Raises: OSError, also when
    it is there no more.

    `tell` hears of lines that cannot be read.
    """
    path = paths.transcript_file(row["file"])
    data = read_bytes(path)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, f"there is no '{path}' any more")
    if not may_mention(data, key):
        return iter(())
    return parse_lines(data, before=row["first_sequence"] - 1, on_bad=report_bad_lines(path, data, on_problem))


def may_mention(data: bytes, key: str) -> bool:
    """Whether that id may be in these lines; a look at the bytes is a hundred times faster than reading them."""
    return not _UNESCAPED.issuperset(key) or key.encode() in data


def find_entry(found: Iterator[EntryLine], key: str) -> Entry | None:
    """The entry of that id among these."""
    return next((line.entry for line in found if line.entry.id == key), None)


def is_unchanged(paths: ConversationPaths, row: PartitionRow) -> bool:
    """Whether the file still has the size that its filter was made for."""
    try:
        return os.stat(paths.transcript_file(row["file"])).st_size == row["size"]
    except OSError:
        return False


def unreadable_lines(paths: ConversationPaths, known: Manifest) -> list[str]:
    """The lines that could not be read when the partitions were looked through."""
    return [
        unreadable_message(paths.transcript_file(row["file"]), number)
        for row in known.rows.with_unreadable_lines()
        for number in _int_list(row.get("unreadable"))
    ]


def _int_list(value: object) -> list[int]:
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [number for number in found if type(number) is int]


def _rescan(paths: ConversationPaths, storage: StorageSettings, known: Manifest) -> Manifest:
    """Keep the rows that still hold, and read the other partitions."""
    there = {row["file"]: row for row in known.rows}
    rows: list[PartitionRow] = []
    after = 0
    for file in _ordered_files(paths, known):
        row = there.get(file)
        if row is None or row["first_sequence"] <= after or not is_unchanged(paths, row):
            theirs = foreign_row_fields(cast("dict[str, object]", row)) if row else known.foreign_rows.get(file, {})
            data = read_bytes(paths.transcript_file(file)) or b""
            found = examine(file, data, after, storage._replace(enable_bloom_filters=False)).row
            row = cast("PartitionRow", {**theirs, **found})
        rows.append(row)
        after = row["last_sequence"]
    return known._replace(rows=encode_rows(rows), foreign_rows={})


def _partition_names(paths: ConversationPaths) -> list[str]:
    try:
        return [name for name in os.listdir(paths.partitions) if name.endswith(".jsonl")]
    except FileNotFoundError:
        return []


def _ordered_files(paths: ConversationPaths, known: Manifest) -> list[str]:
    """All that are there."""
    files = {f"partitions/{name}" for name in _partition_names(paths)}
    sure = [
        SequenceSpan(
            row["first_sequence"], row["last_sequence"], row["start_ts"] * 1000, row["file"], row["entry_count"]
        )
        for row in known.rows
        if row["file"] in files
    ]
    others = files.difference(span.file for span in sure)
    found = [span_of(file, read_bytes(paths.transcript_file(file)) or b"") for file in others]
    return order_partitions(sure, found, known.foreign_rows)


def _free_name(paths: ConversationPaths, start: int, end: int) -> str:
    name = f"partitions/{start}-{end}"
    number, file = 1, f"{name}.jsonl"
    while os.path.lexists(paths.transcript_file(file)):
        number += 1
        file = f"{name}-{number}.jsonl"
    return file


def _add_filters(paths: ConversationPaths, seen: PartitionContents) -> None:
    bloom_filters.append_frame(paths.transcript_file(bloom_filters.IDS_FILE), seen.row, seen.ids)
    bloom_filters.append_frame(paths.transcript_file(bloom_filters.WORDS_FILE), seen.row, seen.words)


def _rebuild_filters(paths: ConversationPaths, storage: StorageSettings, rows: Sequence[PartitionRow]) -> None:
    """Partitions that have no filter, or one for another size, get theirs; frames of nobody go."""
    both = [
        bloom_filters.load_frames(paths.transcript_file(name))
        for name in (bloom_filters.IDS_FILE, bloom_filters.WORDS_FILE)
    ]
    kept = {row["file"]: row["size"] for row in rows}
    sound = [{name: frame for name, frame in frames.items() if kept.get(name) == frame.size} for frames in both]
    for name, frames in zip((bloom_filters.IDS_FILE, bloom_filters.WORDS_FILE), sound, strict=True):
        bloom_filters.rewrite_frames(paths.transcript_file(name), frames)
    for row in rows:
        if any(row["file"] not in frames for frames in sound):
            data = read_bytes(paths.transcript_file(row["file"])) or b""
            _add_filters(paths, examine(row["file"], data, row["first_sequence"] - 1, storage))
