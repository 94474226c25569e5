"""The full partitions of a transcript: looked through only when their folder has changed, read in order."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from marid.adapters.store import blooms, manifest
from marid.adapters.store.entries import Line, decode, lines, tokens
from marid.adapters.store.files import make_folder, read_bytes, sync_folder
from marid.adapters.store.layout import Place
from marid.adapters.store.manifest import Manifest, Row, Rows, rows_of
from marid.core.conversation import Storage
from marid.core.entry import ANCHORS, Entry

# What stands in a line as it is, however the line was written.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


class Contents(NamedTuple):
    """What a look into a partition has found; `row` is None when there is no entry in it."""

    row: Row | None
    ids: set[str]
    words: set[str]


def survey(place: Place, storage: Storage, first: int = 0) -> tuple[Manifest, bool]:
    """The partitions that are there, and whether the manifest on the disk is right about them. Raises: OSError.

    `first` is the number that the active file begins with, if it says so: a clock that is too coarse to give the folder
    a new stamp must not hide a partition.
    """
    known = manifest.load(place)
    stamp = manifest.stamp_of(place)
    last = known.rows[-1]["last_sequence"] if known.rows else 0
    if known.stamp == stamp and first <= last + 1:
        return known, True
    return _looked_through(place, storage, known)._replace(stamp=stamp), False


def settle(place: Place, storage: Storage, now: Manifest) -> Manifest:
    """Write what `survey` has found, with a filter for each partition. Raises: OSError."""
    make_folder(place.partitions)
    if storage.enable_bloom_filters:
        _complete_filters(place, storage, now.rows)
    now = now._replace(stamp=manifest.stamp_of(place))
    manifest.save(place, now, storage)
    return now


def seal(place: Place, storage: Storage, known: Manifest, data: bytes) -> Manifest:
    """Make a partition of the active file, whose content is `data`. Raises: OSError.

    Whatever stops this in the midst, the file is in one of its two places, and `survey` finds it there.
    """
    after = known.rows[-1]["last_sequence"] if known.rows else 0
    make_folder(place.partitions)
    seen = examine("", data, after, storage)
    if seen.row is None:
        return known
    row = seen.row
    row["file"] = _free_name(place, row["start_ts"], row["end_ts"])
    os.rename(place.active, place.transcript(row["file"]))
    sync_folder(place.partitions)
    sync_folder(place.transcript())
    if storage.enable_bloom_filters:
        _add_filters(place, seen)
    now = known._replace(rows=Rows([*known.rows.written, *rows_of([row]).written]), stamp=manifest.stamp_of(place))
    manifest.save(place, now, storage)
    return now


def examine(file: str, data: bytes, after: int, storage: Storage) -> Contents:
    """Read a whole partition whose entries follow number `after`."""
    found = [line.entry for line in lines(data, before=after)]
    ids = {entry.id for entry in found}
    words: set[str] = set()
    if not found:
        return Contents(None, ids, words)
    if storage.enable_bloom_filters:
        words = blooms.words_of("\n".join(entry.content for entry in found))
    row = Row(
        file=file,
        start_ts=found[0].timestamp,
        end_ts=found[-1].timestamp,
        entry_count=len(found),
        token_count=sum(tokens(entry, storage.bytes_per_token) for entry in found),
        first_sequence=found[0].sequence,
        last_sequence=found[-1].sequence,
        anchor_sequence=max((entry.sequence for entry in found if entry.entry_type in ANCHORS), default=0),
        size=len(data),
    )
    return Contents(row, ids, words)


def read(place: Place, row: Row, key: str = "") -> Iterator[Line]:
    """The entries of one partition; none when they surely do not have that id among them. Raises: OSError."""
    data = read_bytes(place.transcript(row["file"])) or b""
    return lines(data, before=row["first_sequence"] - 1) if may_mention(data, key) else iter(())


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


def _looked_through(place: Place, storage: Storage, known: Manifest) -> Manifest:
    """Keep the rows that still hold and read the others; when an old one does not hold, read all."""
    files = {f"partitions/{name}" for name in _files(place)}
    rows = list(known.rows)
    if not all(row["file"] in files and unchanged(place, row) for row in rows):
        known, rows = known._replace(listed=[row["file"] for row in rows]), []
    after = rows[-1]["last_sequence"] if rows else 0
    for file in _ordered(place, files - {row["file"] for row in rows}, known.listed):
        data = read_bytes(place.transcript(file)) or b""
        seen = examine(file, data, after, storage._replace(enable_bloom_filters=False))
        if seen.row is not None:
            rows.append(seen.row)
            after = seen.row["last_sequence"]
    return known._replace(rows=rows_of(rows), listed=())


def _files(place: Place) -> list[str]:
    try:
        return [name for name in os.listdir(place.partitions) if name.endswith(".jsonl")]
    except FileNotFoundError:
        return []


def _ordered(place: Place, files: set[str], listed: Sequence[str]) -> list[str]:
    """As another program has listed them; the rest by their first entry, those without a number first."""
    first = [file for file in dict.fromkeys(listed) if file in files]
    return first + sorted(files - set(first), key=lambda file: _key(place, file))


def _key(place: Place, file: str) -> tuple[int, int, str]:
    with open(place.transcript(file), "rb") as stream:
        for line in stream:
            if found := decode(line, -1):
                return found[0].sequence, found[0].time_ms, file
    return 0, 0, file


def _free_name(place: Place, start: int, end: int) -> str:
    name = f"partitions/{start}-{end}"
    number, file = 1, f"{name}.jsonl"
    while os.path.lexists(place.transcript(file)):
        number += 1
        file = f"{name}-{number}.jsonl"
    return file


def _add_filters(place: Place, seen: Contents) -> None:
    if seen.row is not None:
        blooms.add(place.transcript(blooms.IDS), seen.row, seen.ids)
        blooms.add(place.transcript(blooms.WORDS), seen.row, seen.words)


def _complete_filters(place: Place, storage: Storage, rows: Sequence[Row]) -> None:
    """Partitions that have no filter, or one for another size, get theirs; frames of nobody go."""
    both = [blooms.load(place.transcript(name)) for name in (blooms.IDS, blooms.WORDS)]
    kept = {row["file"]: row["size"] for row in rows}
    sound = [{name: frame for name, frame in frames.items() if kept.get(name) == frame.size} for frames in both]
    for name, frames, before in zip((blooms.IDS, blooms.WORDS), sound, both, strict=True):
        if len(frames) != len(before):
            blooms.rewrite(place.transcript(name), frames)
    for row in rows:
        if any(row["file"] not in frames for frames in sound):
            data = read_bytes(place.transcript(row["file"])) or b""
            _add_filters(place, examine(row["file"], data, row["first_sequence"] - 1, storage))
