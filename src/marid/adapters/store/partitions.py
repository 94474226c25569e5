"""The full partitions of a transcript: looked through only when their folder has changed, read in order."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, cast

from marid.adapters.store import blooms, manifest
from marid.adapters.store.entries import Line, lines, numbering, telling, tokens, unreadable
from marid.adapters.store.files import read_bytes, sync_folder
from marid.adapters.store.layout import Place
from marid.adapters.store.manifest import Manifest, Row, Rows, others_of, rows_of
from marid.adapters.store.ordering import Span, ordered, span_of
from marid.core.conversation import Storage
from marid.core.entry import ANCHORS, Entry
from marid.workspace.private import private_folder

# What stands in a line as it is, however the line was written.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


class Contents(NamedTuple):
    """What a look into a partition has found."""

    row: Row
    ids: set[str]
    words: set[str]


def survey(place: Place, storage: Storage, first: int) -> tuple[Manifest, bool]:
    """The partitions that are there, and whether the manifest on the disk is right about them. Raises: OSError.

    `first` is the number that the active file begins with, 0 when there is no entry in it: a clock that is too coarse
    to give the folder a new stamp must not hide a partition.
    """
    known = manifest.load(place)
    stamp = manifest.stamp_of(place)
    last = known.rows[-1]["last_sequence"] if known.rows else 0
    if known.stamp == stamp and 0 < first <= last + 1:
        return known, True
    found = _looked_through(place, storage, known)._replace(stamp=stamp)
    return found, found == known


def is_filtered(place: Place, storage: Storage, known: Manifest) -> bool:
    """Whether every partition has its filters, if they are wanted; told by the sizes of files. Raises: OSError."""
    return not storage.enable_bloom_filters or not known.rows or known.filters == blooms.sizes(place)


def settle(place: Place, storage: Storage, now: Manifest) -> Manifest:
    """Write what `survey` has found, with a filter for each partition. Raises: OSError."""
    private_folder(place.partitions)
    filters: tuple[int, ...] = ()
    if storage.enable_bloom_filters:
        _complete_filters(place, storage, now.rows)
        filters = blooms.sizes(place)
    now = now._replace(stamp=manifest.stamp_of(place), filters=filters)
    manifest.save(place, now, storage)
    return now


def seal(place: Place, storage: Storage, known: Manifest, data: bytes) -> Manifest:
    """Make a partition of the active file, whose content is `data`. Raises: OSError.

    Whatever stops this in the midst, the file is in one of its two places, and `survey` finds it there.
    """
    after = known.rows[-1]["last_sequence"] if known.rows else 0
    private_folder(place.partitions)
    seen = examine("", data, after, storage)
    row = seen.row
    if not row["entry_count"]:
        return known
    row["file"] = _free_name(place, row["start_ts"], row["end_ts"])
    os.rename(place.active, place.transcript(row["file"]))
    sync_folder(place.partitions)
    sync_folder(place.transcript())
    filters: tuple[int, ...] = ()
    if storage.enable_bloom_filters:
        _add_filters(place, seen)
        filters = blooms.sizes(place)
    rows = Rows([*known.rows.written, *rows_of([row]).written])
    now = known._replace(rows=rows, stamp=manifest.stamp_of(place), filters=filters)
    manifest.save(place, now, storage)
    return now


def examine(file: str, data: bytes, after: int, storage: Storage) -> Contents:
    """Read a whole partition whose entries follow number `after`."""
    bad: list[int] = []
    found = [line.entry for line in lines(data, before=after, on_bad=numbering(data, bad.append))]
    words: set[str] = set()
    if storage.enable_bloom_filters:
        words = blooms.searchable("\n".join(entry.content for entry in found))
    row = Row(
        file=file,
        start_ts=found[0].timestamp if found else 0,
        end_ts=found[-1].timestamp if found else 0,
        entry_count=len(found),
        token_count=sum(tokens(entry, storage.bytes_per_token) for entry in found),
        first_sequence=found[0].sequence if found else after + 1,
        last_sequence=found[-1].sequence if found else after,
        anchor_sequence=max((entry.sequence for entry in found if entry.entry_type in ANCHORS), default=0),
        size=len(data),
    )
    if bad:
        row["unreadable"] = bad
    return Contents(row, {entry.id for entry in found}, words)


def read(place: Place, row: Row, key: str = "", tell: Callable[[str], None] | None = None) -> Iterator[Line]:
    """The entries of one partition; none when they surely do not have that id among them. Raises: OSError, also when
    it is there no more.

    `tell` hears of lines that cannot be read.
    """
    path = place.transcript(row["file"])
    data = read_bytes(path)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, f"there is no '{path}' any more")
    if not may_mention(data, key):
        return iter(())
    return lines(data, before=row["first_sequence"] - 1, on_bad=telling(path, data, tell))


def may_mention(data: bytes, key: str) -> bool:
    """Whether that id may be in these lines; a look at the bytes is a hundred times faster than reading them."""
    return not _PLAIN.issuperset(key) or key.encode() in data


def entry_at(found: Iterator[Line], key: str) -> Entry | None:
    """The entry of that id among these."""
    return next((line.entry for line in found if line.entry.id == key), None)


def unchanged(place: Place, row: Row) -> bool:
    """Whether the file still has the size that its filter was made for."""
    try:
        return os.stat(place.transcript(row["file"])).st_size == row["size"]
    except OSError:
        return False


def problems(place: Place, known: Manifest) -> list[str]:
    """The lines that could not be read when the partitions were looked through."""
    return [
        unreadable(place.transcript(row["file"]), number)
        for row in known.rows.unreadable()
        for number in _numbers(row.get("unreadable"))
    ]


def _numbers(value: object) -> list[int]:
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [number for number in found if type(number) is int]


def _looked_through(place: Place, storage: Storage, known: Manifest) -> Manifest:
    """Keep the rows that still hold, and read the other partitions."""
    there = {row["file"]: row for row in known.rows}
    rows: list[Row] = []
    after = 0
    for file in _ordered(place, known):
        row = there.get(file)
        if row is None or row["first_sequence"] <= after or not unchanged(place, row):
            theirs = others_of(cast("dict[str, object]", row)) if row else known.listed.get(file, {})
            data = read_bytes(place.transcript(file)) or b""
            found = examine(file, data, after, storage._replace(enable_bloom_filters=False)).row
            row = cast("Row", {**theirs, **found})
        rows.append(row)
        after = row["last_sequence"]
    return known._replace(rows=rows_of(rows), listed={})


def _files(place: Place) -> list[str]:
    try:
        return [name for name in os.listdir(place.partitions) if name.endswith(".jsonl")]
    except FileNotFoundError:
        return []


def _ordered(place: Place, known: Manifest) -> list[str]:
    """All that are there."""
    files = {f"partitions/{name}" for name in _files(place)}
    sure = [
        Span(row["first_sequence"], row["last_sequence"], row["start_ts"] * 1000, row["file"], row["entry_count"])
        for row in known.rows
        if row["file"] in files
    ]
    others = files.difference(span.file for span in sure)
    found = [span_of(file, read_bytes(place.transcript(file)) or b"") for file in others]
    return ordered(sure, found, known.listed)


def _free_name(place: Place, start: int, end: int) -> str:
    name = f"partitions/{start}-{end}"
    number, file = 1, f"{name}.jsonl"
    while os.path.lexists(place.transcript(file)):
        number += 1
        file = f"{name}-{number}.jsonl"
    return file


def _add_filters(place: Place, seen: Contents) -> None:
    blooms.add(place.transcript(blooms.IDS), seen.row, seen.ids)
    blooms.add(place.transcript(blooms.WORDS), seen.row, seen.words)


def _complete_filters(place: Place, storage: Storage, rows: Sequence[Row]) -> None:
    """Partitions that have no filter, or one for another size, get theirs; frames of nobody go."""
    both = [blooms.load(place.transcript(name)) for name in (blooms.IDS, blooms.WORDS)]
    kept = {row["file"]: row["size"] for row in rows}
    sound = [{name: frame for name, frame in frames.items() if kept.get(name) == frame.size} for frames in both]
    for name, frames in zip((blooms.IDS, blooms.WORDS), sound, strict=True):
        blooms.rewrite(place.transcript(name), frames)
    for row in rows:
        if any(row["file"] not in frames for frames in sound):
            data = read_bytes(place.transcript(row["file"])) or b""
            _add_filters(place, examine(row["file"], data, row["first_sequence"] - 1, storage))
