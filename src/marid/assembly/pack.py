"""Render the items as a stream of batches of about a megabyte."""

from collections.abc import Iterable, Iterator

from marid.assembly.formats.format_table import FormatRenderer
from marid.assembly.items import Batch, Buffers, ContextItem, Section, Tally
from marid.core.context import Level

_BATCH_BYTES = 1 << 20
# A vectored write takes at most about this many buffers.
_BATCH_BUFFERS = 1000


def pack(sections: Iterable[Section], items: Iterable[ContextItem], form: FormatRenderer) -> Iterator[Batch]:
    """The whole output in batches. Files shown by name come last, together."""
    buffers: Buffers = [form.prologue()]
    first = True
    files = written = size = masked = 0
    tokens: int | None = None
    for section in sections:
        buffers += form.section(section, first=first)
        masked += section.masked
        first = False
    names: list[ContextItem] = []
    for item in items:
        files += 1
        written += len(item.body)
        size += item.size
        masked += item.masked
        if item.tokens is not None:
            tokens = (tokens or 0) + item.tokens
        if item.level is Level.NAME:
            names.append(item)
            continue
        buffers += form.item(item, first=first)
        first = False
        if written >= _BATCH_BYTES or len(buffers) >= _BATCH_BUFFERS:
            yield Batch(buffers, Tally(files, written, size, masked, tokens=tokens))
            buffers, files, written, size, masked, tokens = [], 0, 0, 0, 0, None
    if names:
        buffers += form.names(names, first=first)
    buffers.append(form.epilogue())
    yield Batch(buffers, Tally(files, written, size, masked, tokens=tokens))
