"""Pack plain text in several processes, and join their output in order."""

import marshal
from collections.abc import Iterator
from functools import partial
from typing import Any

from marid.assembly.assembler import Assembler
from marid.assembly.formats.format_table import SEPARATOR, content_size_line, header
from marid.assembly.items import Batch, Buffers, Tally
from marid.core.events import FileProblem
from marid.ports.job_pool import JobPool, OutputPart
from marid.text.display import quote_path
from marid.workspace.walk import Folder

_JOB_FILES = 128
_PART_BYTES = 512 << 10


def pack_in_parallel(work: Assembler, pool: JobPool) -> Iterator[Batch]:
    """The output of a plain text pack."""
    work.item_builder.warm()  # once, and not in every process
    first = True
    jobs = [partial(_pack_folders, work, folders) for folders in _split_into_jobs(work.selection.folders)]
    for part in pool.run_jobs(jobs):
        tally: list[Any] = []
        problems: list[tuple[str, str]] = []
        if part.notes:
            tally, problems = marshal.loads(part.notes)  # noqa: S302 - made by our own fork
        for path, reason in problems:
            work.emit(FileProblem(path=quote_path(path), reason=reason))
        buffers = part.buffers
        if buffers and first:  # only here it is known which file is first
            buffers = [buffers[0].removeprefix(SEPARATOR), *buffers[1:]]
            first = False
        yield Batch(buffers, Tally(*tally))


def _pack_folders(work: Assembler, folders: list[Folder]) -> Iterator[OutputPart]:
    """Pack some consecutive files."""
    problems: list[tuple[str, str]] = []

    def make_part(tally: Tally) -> OutputPart:
        notes = marshal.dumps((list(tally), problems))
        problems.clear()
        return OutputPart(buffers, notes)

    # The hot loop of every large pack: nothing but a header is made per file.
    mask = work.item_builder.mask
    reader = work.make_reader(lambda path, reason: problems.append((path, reason)))
    buffers: Buffers = []
    files = written = size = masked = 0
    for path, data, length, modified, _ in reader.read(folders):
        body, found = mask(data, path)
        extra = "" if len(body) == length else content_size_line(len(body))
        buffers += (SEPARATOR, header(path, length, modified, extra), body, b"" if body[-1:] == b"\n" else b"\n")
        files += 1
        written += len(body)
        size += length
        masked += found
        if written >= _PART_BYTES:
            yield make_part(Tally(files, written, size, masked))
            buffers, files, written, size, masked = [], 0, 0, 0, 0
    yield make_part(Tally(files, written, size + reader.huge_bytes, masked, reader.binaries))


def _split_into_jobs(folders: list[Folder]) -> Iterator[list[Folder]]:
    """Consecutive files in jobs small enough that the processes end at about the same time."""
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
