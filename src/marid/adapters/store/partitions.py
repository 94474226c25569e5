"""The sealed partitions of a transcript: which there are, in which order, and what is in them."""

import errno
import os
from bisect import bisect, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import NamedTuple, cast

from marid.adapters.store import entry_lines, partition_index
from marid.adapters.store.entry_lines import EntryLine, parse_lines
from marid.adapters.store.files import file_size, integers, read_bytes, sync_folder
from marid.adapters.store.layout import ConversationPaths
from marid.adapters.store.partition_index import Manifest, PartitionRow, encode_row, foreign_row_fields, parse_row
from marid.core.conversation.entry import ANCHORS, Entry
from marid.core.conversation.records import StorageSettings

# Characters that every JSON writer leaves unescaped.
_UNESCAPED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


class SequenceSpan(NamedTuple):
    """The numbers of a partition's entries in its file, `begin` 0 without any, and the time of the first entry."""

    begin: int
    end: int
    time_ms: int
    file: str
    entry_count: int


def survey(paths: ConversationPaths, storage: StorageSettings, first: int) -> tuple[Manifest, bool]:
    """The partitions, and whether the manifest on the disk lists them correctly. Raises: OSError.

    They are read only if their folder has changed. `first` is the number of the first entry in the active file, 0
    without any: it reveals a partition whose sealing did not change the folder's stamp, if the clock is coarse.
    """
    known = partition_index.load_manifest(paths)
    stamp = partition_index.folder_stamp(paths)
    if known.stamp == stamp and 0 < first <= known.last_sequence + 1:
        return known, True
    found = _rescan(paths, storage, known)._replace(stamp=stamp)
    return found, found == known


def has_all_filters(paths: ConversationPaths, storage: StorageSettings, known: Manifest) -> bool:
    """Whether every partition has its filters, judged by the sizes of the filter files. Raises: OSError."""
    return not storage.enable_bloom_filters or not known.rows or known.filters == partition_index.filter_sizes(paths)


def save_survey(paths: ConversationPaths, storage: StorageSettings, found: Manifest) -> Manifest:
    """Save the result of `survey`, with filters for each partition. Raises: OSError."""
    paths.make_folders()
    if storage.enable_bloom_filters:
        _rebuild_filters(paths, storage, [parse_row(row) for row in found.rows])
    return _save_manifest(paths, storage, found)


def _save_manifest(paths: ConversationPaths, storage: StorageSettings, new: Manifest) -> Manifest:
    filters = partition_index.filter_sizes(paths) if storage.enable_bloom_filters else ()
    new = new._replace(stamp=partition_index.folder_stamp(paths), filters=filters)
    partition_index.save_manifest(paths, new, storage)
    return new


def seal(paths: ConversationPaths, storage: StorageSettings, known: Manifest, data: bytes) -> Manifest:
    """Turn the active file with this content into a partition; after a crash `survey` finds it. Raises: OSError."""
    row, entries = examine("", data, known.last_sequence, storage)
    if not entries:
        return known
    paths.make_folders()
    row["file"] = _free_name(paths, row["start_ts"], row["end_ts"])
    os.rename(paths.active, paths.transcript_file(row["file"]))
    sync_folder(paths.partitions)
    sync_folder(paths.transcript)
    if storage.enable_bloom_filters:
        _add_filters(paths, row, entries)
    return _save_manifest(paths, storage, known._replace(rows=(*known.rows, encode_row(row))))


def examine(file: str, data: bytes, after: int, storage: StorageSettings) -> tuple[PartitionRow, list[Entry]]:
    """The row of a partition and its entries, which follow number `after`."""
    bad: list[int] = []
    on_bad = entry_lines.number_bad_lines(data, bad.append)
    found = [line.entry for line in parse_lines(data, before=after, on_bad=on_bad)]
    row = PartitionRow(
        file=file,
        start_ts=found[0].timestamp if found else 0,
        end_ts=found[-1].timestamp if found else 0,
        entry_count=len(found),
        token_count=sum(entry_lines.entry_tokens(entry, storage.bytes_per_token) for entry in found),
        first_sequence=found[0].sequence if found else after + 1,
        last_sequence=found[-1].sequence if found else after,
        anchor_sequence=max((entry.sequence for entry in found if entry.entry_type in ANCHORS), default=0),
        size=len(data),
    )
    if bad:
        row["unreadable"] = bad
    return row, found


def read_partition(
    paths: ConversationPaths, row: PartitionRow, key: str = "", on_problem: Callable[[str], None] | None = None
) -> Iterator[EntryLine]:
    """The entries of a partition; none if the id `key` is not among them. Raises: OSError, also if the file is gone."""
    path = paths.transcript_file(row["file"])
    data = read_bytes(path)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, f"'{path}' no longer exists")
    if not may_mention(data, key):
        return iter(())
    on_bad = entry_lines.report_bad_lines(path, data, on_problem)
    return parse_lines(data, before=row["first_sequence"] - 1, on_bad=on_bad)


def may_mention(data: bytes, key: str) -> bool:
    """Whether these lines may contain that id; searching the bytes is a hundred times faster than parsing them."""
    return not _UNESCAPED.issuperset(key) or key.encode() in data


def is_unchanged(paths: ConversationPaths, row: PartitionRow) -> bool:
    """Whether the file still has the size in its row."""
    return file_size(paths.transcript_file(row["file"])) == row["size"]


def unreadable_lines(paths: ConversationPaths, known: Manifest) -> list[str]:
    """Notes about the lines of partitions that cannot be read."""
    # Most rows have none, and need not be parsed.
    rows = map(parse_row, (encoded for encoded in known.rows if b'"unreadable"' in encoded))
    return [
        entry_lines.unreadable_message(paths.transcript_file(row["file"]), number)
        for row in rows
        for number in integers(row.get("unreadable"))
    ]


def _rescan(paths: ConversationPaths, storage: StorageSettings, known: Manifest) -> Manifest:
    """Keep the rows that are still right, and read the other partitions."""
    old_rows = {row["file"]: row for row in map(parse_row, known.rows)}
    rows: list[PartitionRow] = []
    after = 0
    for file in _ordered_files(paths, known):
        row = old_rows.get(file)
        if row is None or row["first_sequence"] <= after or not is_unchanged(paths, row):
            foreign = foreign_row_fields(cast("dict[str, object]", row)) if row else known.foreign_rows.get(file, {})
            data = read_bytes(paths.transcript_file(file)) or b""
            row = cast("PartitionRow", {**foreign, **examine(file, data, after, storage)[0]})
        rows.append(row)
        after = row["last_sequence"]
    return known._replace(rows=tuple(map(encode_row, rows)), foreign_rows={})


def _ordered_files(paths: ConversationPaths, known: Manifest) -> list[str]:
    files: set[str] = set()
    with suppress(FileNotFoundError):
        files = {f"partitions/{name}" for name in os.listdir(paths.partitions) if name.endswith(".jsonl")}
    sure = [
        SequenceSpan(
            row["first_sequence"], row["last_sequence"], row["start_ts"] * 1000, row["file"], row["entry_count"]
        )
        for row in map(parse_row, known.rows)
        if row["file"] in files
    ]
    others = files.difference(span.file for span in sure)
    found = [span_of(file, read_bytes(paths.transcript_file(file)) or b"") for file in others]
    return order_partitions(sure, found, known.foreign_rows)


def span_of(file: str, data: bytes) -> SequenceSpan:
    """The span by the content of the file. Entries without a number come directly before the first that has one."""
    entries = [line.entry for line in parse_lines(data, before=-1)]
    begin = next((entry.sequence - at for at, entry in enumerate(entries) if entry.sequence > at), 0)
    time_ms, end = (entries[0].time_ms, entries[-1].sequence) if entries else (0, 0)
    return SequenceSpan(begin, end if begin else 0, time_ms, file, len(entries))


def order_partitions(
    known: Sequence[SequenceSpan], others: Sequence[SequenceSpan], listed: Mapping[str, object]
) -> list[str]:
    """Order partitions: `known` have certain numbers, `others` those in their files, `listed` is the order in the
    manifest of another program, which counts for files without numbers.

    Numbers never change. So a partition whose numbers are taken, as those of a copy are, comes last. One without
    numbers comes last too if some are known, since a gap belongs to a partition that is missing now; if none are known,
    it comes where it is listed, or by its time.
    """
    rank = {file: number for number, file in enumerate(listed)}
    placed = sorted(known)
    bare, late = list[SequenceSpan](), list[SequenceSpan]()
    for span in sorted(others, key=lambda one: (one.begin, rank.get(one.file, len(rank)), one.time_ms, one.file)):
        if not span.begin:
            bare.append(span)
        elif _is_disjoint(placed, span):
            insort(placed, span)
        else:
            late.append(span)
    if known:
        last = sorted(bare + late, key=lambda one: (one.time_ms, one.file))
        return [span.file for span in placed + last]
    slots = [(_slot(placed, span, rank), 0, span) for span in bare] + [(at, 1, span) for at, span in enumerate(placed)]
    return [span.file for _, _, span in sorted(slots, key=lambda slot: slot[:2])] + [span.file for span in late]


def _is_disjoint(placed: list[SequenceSpan], span: SequenceSpan) -> bool:
    at = bisect(placed, span)
    return (at == 0 or placed[at - 1].end < span.begin) and (at == len(placed) or placed[at].begin > span.end)


def _slot(placed: list[SequenceSpan], span: SequenceSpan, rank: Mapping[str, int]) -> int:
    """Where to insert a partition without numbers: directly after the last that is listed before it, or before the
    first that is listed after it; if there is none, after all that are not later, but among those of the same time
    where numbers are missing.
    """
    own = rank.get(span.file, -1)
    if before := [at for at, one in enumerate(placed) if 0 <= rank.get(one.file, -1) < own]:
        return before[-1] + 1
    if behind := [at for at, one in enumerate(placed) if rank.get(one.file, -1) > own >= 0]:
        return behind[0]
    last = sum(one.time_ms <= span.time_ms for one in placed)
    for at in range(sum(one.time_ms < span.time_ms for one in placed), last):
        end = placed[at - 1].end if at else 0
        if placed[at].begin - end - 1 >= max(1, span.entry_count):
            return at
    return last


def _free_name(paths: ConversationPaths, start: int, end: int) -> str:
    names = (f"partitions/{start}-{end}{f'-{number}' if number > 1 else ''}.jsonl" for number in count(1))
    return next(name for name in names if not os.path.lexists(paths.transcript_file(name)))


def _add_filters(paths: ConversationPaths, row: PartitionRow, entries: Sequence[Entry]) -> None:
    words = partition_index.search_terms("\n".join(entry.content for entry in entries))
    partition_index.append_frame(paths.transcript_file(partition_index.IDS_FILE), row, {entry.id for entry in entries})
    partition_index.append_frame(paths.transcript_file(partition_index.WORDS_FILE), row, words)


def _rebuild_filters(paths: ConversationPaths, storage: StorageSettings, rows: Sequence[PartitionRow]) -> None:
    """Add missing filters and those for other sizes; drop the filters of files that are gone."""
    sizes = {row["file"]: row["size"] for row in rows}
    complete = set(sizes)
    for path in map(paths.transcript_file, (partition_index.IDS_FILE, partition_index.WORDS_FILE)):
        frames = partition_index.load_frames(path)
        sound = {name: frame for name, frame in frames.items() if sizes.get(name) == frame.size}
        partition_index.rewrite_frames(path, sound)
        complete &= sound.keys()
    for row in rows:
        if row["file"] not in complete:
            data = read_bytes(paths.transcript_file(row["file"])) or b""
            _add_filters(paths, *examine(row["file"], data, row["first_sequence"] - 1, storage))
