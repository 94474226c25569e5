"""The output formats, of which text is the default, and the pack of items that they render.

File names and contents cannot break or forge any format.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import cast

from marid.assembly.items import Batch, Buffers, ContextItem, Section, Tally
from marid.core.context import Level, OutputFormat
from marid.text.display import quote_path

# By name, so that the default format does not import the others.
FORMATS = {
    OutputFormat.MARKDOWN: "marid.assembly.formats.markdown_format:MarkdownFormat",
    OutputFormat.XML: "marid.assembly.formats.xml_format:XmlFormat",
    OutputFormat.JSON: "marid.assembly.formats.json_format:JsonFormat",
}
_BATCH_BYTES = 1 << 20
# A vectored write takes at most about this many buffers.
_BATCH_BUFFERS = 1000
RULE = "=" * 80
_SEPARATOR_TEXT = f"\n{RULE}\n"
# Before every file but the first.
SEPARATOR = _SEPARATOR_TEXT.encode()


def make_renderer(form: OutputFormat) -> "TextFormat":
    """A renderer for a format."""
    if form is OutputFormat.TEXT:
        return TextFormat()
    module, _, name = FORMATS[form].partition(":")
    return cast("TextFormat", getattr(import_module(module), name)())


def pack(sections: Iterable[Section], items: Iterable[ContextItem], form: "TextFormat") -> Iterator[Batch]:
    """The whole output in batches of about a megabyte. Files shown by name come last, together."""
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


def header(path: str, size: int, modified: float, extra: str = "") -> bytes:
    """The header of a file; `extra` are further lines."""
    return (
        f"File: {quote_path(path)}\nSize: {size} bytes\nLast Modified: {format_mtime(modified)}\n{extra}{RULE}\n\n"
    ).encode()


def content_size_line(size: int) -> str:
    """The header line for a content whose size differs from that on disk."""
    return f"Content: {size} bytes\n"


class TextFormat:
    """The format of jinni: header lines and `=` rules. `Size`, or `Content` if that differs, tells where a file ends.

    The other formats override what they render differently. `first` if nothing precedes.
    """

    def prologue(self) -> bytes:
        return b""

    def epilogue(self) -> bytes:
        return b""

    def item(self, item: ContextItem, *, first: bool) -> Sequence[bytes]:
        body = item.body
        extra = "" if item.level is Level.FULL else f"Level: {item.level.value}\n"
        if item.spans:
            extra += f"Lines: {', '.join(f'{start}-{end}' for start, end in item.spans)}\n"
        if len(body) != item.size:
            extra += content_size_line(len(body))
        head = header(item.path, item.size, item.modified, extra)
        return b"" if first else SEPARATOR, head, body, missing_newline(body)

    def section(self, section: Section, *, first: bool) -> Sequence[bytes]:
        body = section.body
        head = f"{'' if first else _SEPARATOR_TEXT}{section.title}\n{content_size_line(len(body))}{RULE}\n\n"
        return head.encode(), body, missing_newline(body)

    def name(self, item: ContextItem) -> bytes:
        """The line of a file that is shown by name."""
        return f"{quote_path(item.path)} ({item.size} bytes)\n".encode()

    def names(self, items: Sequence[ContextItem], *, first: bool) -> Sequence[bytes]:
        body = b"".join(map(self.name, items))
        return self.section(Section("names", f"By name only: {len(items)} files", body), first=first)


def format_mtime(seconds: float) -> str:
    """A modification time for a header, in UTC."""
    return _format_second(int(seconds // 1))


@lru_cache(4096)  # after a checkout thousands of files share a second
def _format_second(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    except (OSError, OverflowError, ValueError):
        return _format_second(0)  # a file system may have times beyond the calendar


def missing_newline(body: bytes) -> bytes:
    """A newline if `body` does not end with one."""
    return b"" if body.endswith(b"\n") else b"\n"
