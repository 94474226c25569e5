"""A plain pack made by several hands: the files are shared out in runs, and put together in their order."""

import marshal
from collections.abc import Iterator
from typing import NamedTuple

from marid.assembly.assembler import Assembler
from marid.assembly.formats.text_format import SEPARATOR, content_size_line, header
from marid.assembly.pack import Buffers
from marid.assembly.size_limit import check_size
from marid.core.events import FileProblem, PackProgress
from marid.ports.job_pool import JobPool, OutputPart
from marid.text.display import quote_path
from marid.workspace.read import FileReader
from marid.workspace.walk import Folder

# Fewer files are packed in the time that a fork takes.
MIN_FILES = 1000
_JOB_FILES = 128
_PART_BYTES = 512 << 10


class PartTally(NamedTuple):
    """What a hand says about its part."""

    files: int = 0
    bytes: int = 0
    size: int = 0
    masked: int = 0
    binaries: int = 0
    problems: tuple[tuple[str, str], ...] = ()


def pack_in_parallel(work: Assembler, crew: JobPool) -> Iterator[Buffers]:
    """The output of a plain text pack.

    Raises: Exhausted when the files hold more than the assembler's `max_bytes`, if that is set.
    """
    work.item_builder.warm()  # once, and not once in every hand
    jobs = [_PackJob(work, folders) for folders in _split_into_jobs(work.selection.folders)]
    total, first = 0, True
    for part in crew.run_jobs(jobs):
        tally = PartTally(*marshal.loads(part.notes)) if part.notes else PartTally()  # noqa: S302 - made by our own fork
        total += tally.size
        if work.max_bytes is not None and total > work.max_bytes:
            check_size(work.selection, work.max_bytes)
        _add_tally(work, tally)
        if part.buffers:
            # Only here is it known which file is the first.
            yield [part.buffers[0].removeprefix(SEPARATOR), *part.buffers[1:]] if first else part.buffers
            first = False
            work.emit(PackProgress(files=work.files, bytes=work.bytes))


def _add_tally(work: Assembler, tally: PartTally) -> None:
    work.files += tally.files
    work.bytes += tally.bytes
    work.masked += tally.masked
    work.reader.binaries += tally.binaries
    for path, reason in tally.problems:
        work.emit(FileProblem(path=quote_path(path), reason=reason))


class _PackJob:
    """The job of packing some consecutive files."""

    def __init__(self, work: Assembler, folders: list[Folder]) -> None:
        self._assembler = work
        self._folders = folders
        self._problems: list[tuple[str, str]] = []

    def __call__(self) -> Iterator[OutputPart]:
        # The hot loop of every large pack: nothing is made for a file but its header.
        mask = self._assembler.item_builder.mask
        reader = FileReader(self._assembler.selection.top, self._on_problem, skip=self._assembler.output_identity)
        buffers: Buffers = []
        files = total = size = masked = 0
        for path, data, length, modified, _ in reader.read(self._folders):
            body, found = mask(data, path)
            extra = "" if len(body) == length else content_size_line(len(body))
            buffers += (SEPARATOR, header(path, length, modified, extra), body, b"" if body[-1:] == b"\n" else b"\n")
            files += 1
            total += len(body)
            size += length
            masked += found
            if total >= _PART_BYTES:
                yield OutputPart(buffers, self._encode_tally(PartTally(files, total, size, masked)))
                buffers, files, total, size, masked = [], 0, 0, 0, 0
        yield OutputPart(
            buffers, self._encode_tally(PartTally(files, total, size + reader.huge_bytes, masked, reader.binaries))
        )

    def _on_problem(self, path: str, reason: str) -> None:
        self._problems.append((path, reason))

    def _encode_tally(self, tally: PartTally) -> bytes:
        notes = marshal.dumps(tuple(tally._replace(problems=tuple(self._problems))))
        self._problems.clear()
        return notes


def _split_into_jobs(folders: list[Folder]) -> Iterator[list[Folder]]:
    """Runs of files, in order, small enough that the hands end at about the same time."""
    share: list[Folder] = []
    room = _JOB_FILES
    for path, names in folders:
        at = 0
        while at < len(names):
            taken = names[at : at + room]
            share.append(Folder(path, taken))
            at += len(taken)
            room -= len(taken)
            if not room:
                yield share
                share, room = [], _JOB_FILES
    if share:
        yield share
