"""The default format: header lines and `=` rules."""

from collections.abc import Sequence

from marid.assembly.formats.format_renderer import format_mtime, missing_newline, name_line
from marid.assembly.items import ContextItem, Section
from marid.core.context import Level
from marid.text.display import quote_path

RULE = "=" * 80
_SEPARATOR_TEXT = f"\n{RULE}\n"
# Before every file but the first.
SEPARATOR = _SEPARATOR_TEXT.encode()


def header(path: str, size: int, modified: float, extra: str = "") -> bytes:
    """The header of a file; `extra` are further lines."""
    return (
        f"File: {quote_path(path)}\nSize: {size} bytes\nLast Modified: {format_mtime(modified)}\n{extra}{RULE}\n\n"
    ).encode()


def content_size_line(size: int) -> str:
    """The header line for a content whose size differs from that on disk."""
    return f"Content: {size} bytes\n"


class TextFormat:
    """The format of jinni. `Size`, or `Content` if that differs, tells where a file ends."""

    def prologue(self) -> bytes:
        return b""

    def epilogue(self) -> bytes:
        return b""

    def item(self, item: ContextItem, *, first: bool) -> Sequence[bytes]:
        body = item.body
        extra = "" if item.level is Level.FULL and not item.spans else _part_lines(item)
        if len(body) != item.size:
            extra += content_size_line(len(body))
        head = header(item.path, item.size, item.modified, extra)
        return b"" if first else SEPARATOR, head, body, missing_newline(body)

    def section(self, section: Section, *, first: bool) -> Sequence[bytes]:
        body = section.body
        head = f"{'' if first else _SEPARATOR_TEXT}{section.title}\n{content_size_line(len(body))}{RULE}\n\n"
        return head.encode(), body, missing_newline(body)

    def name(self, item: ContextItem) -> bytes:
        return name_line(item)

    def names(self, items: Sequence[ContextItem], *, first: bool) -> Sequence[bytes]:
        body = b"".join(name_line(item) for item in items)
        return self.section(Section("names", f"By name only: {len(items)} files", body), first=first)


def _part_lines(item: ContextItem) -> str:
    part = "" if item.level is Level.FULL else f"Level: {item.level.value}\n"
    if item.spans:
        part += f"Lines: {', '.join(f'{start}-{end}' for start, end in item.spans)}\n"
    return part
