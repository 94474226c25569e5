"""Putting the files together as a stream of buffers; no more than about a megabyte waits at a time."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from marid.assembly.formats.format_table import FormatRenderer
from marid.assembly.items import ContextItem, Section
from marid.core.context import Level
from marid.core.events import Emit, PackProgress

Buffers: TypeAlias = list[bytes]

_BATCH_BYTES = 1 << 20
# A single vectored write takes no more buffers than this.
_BATCH_BUFFERS = 1000


def pack(
    sections: Iterable[Section], items: Iterable[ContextItem], form: FormatRenderer, emit: Emit
) -> Iterator[Buffers]:
    """The whole output, in batches. Files of which only the name is shown come last, together."""
    batch: Buffers = [form.prologue()]
    first = True
    files = written = waiting = 0
    for section in sections:
        batch += form.section(section, first=first)
        first = False
    names: list[ContextItem] = []
    for item in items:
        files += 1
        if item.level is Level.NAME:
            names.append(item)
            continue
        batch += form.item(item, first=first)
        first = False
        waiting += len(item.body)
        if waiting >= _BATCH_BYTES or len(batch) >= _BATCH_BUFFERS:
            written += waiting
            yield batch
            emit(PackProgress(files=files, bytes=written))
            batch, waiting = [], 0
    if names:
        batch += form.names(names, first=first)
    batch.append(form.epilogue())
    yield batch
    emit(PackProgress(files=files, bytes=written + waiting))
