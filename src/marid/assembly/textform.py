"""The default form: header lines and `=` rules."""

from collections.abc import Sequence

from marid.assembly.items import Item, Section
from marid.assembly.render import ended, moment, name_line
from marid.core.context import Level
from marid.text.visible import shown_path

RULE = "=" * 80
_BETWEEN = f"\n{RULE}\n"
# What stands before every file but the first.
BETWEEN = _BETWEEN.encode()


def header(path: str, size: int, modified: float, extra: str = "") -> bytes:
    """What stands above a file; `extra` are further lines of it."""
    return (
        f"File: {shown_path(path)}\nSize: {size} bytes\nLast Modified: {moment(modified)}\n{extra}{RULE}\n\n"
    ).encode()


def written(size: int) -> str:
    """The header line that says where a file ends whose content is not what the disk holds."""
    return f"Content: {size} bytes\n"


class TextForm:
    """The document's form. `Size`, or `Content` where that differs, says where a file ends, whatever it holds."""

    def opening(self) -> bytes:
        return b""

    def closing(self) -> bytes:
        return b""

    def item(self, item: Item, *, first: bool) -> Sequence[bytes]:
        body = item.body
        extra = "" if item.level is Level.FULL and not item.spans else _shown_part(item)
        if len(body) != item.size:
            extra += written(len(body))
        head = header(item.path, item.size, item.modified, extra)
        return b"" if first else BETWEEN, head, body, ended(body)

    def section(self, section: Section, *, first: bool) -> Sequence[bytes]:
        body = section.body
        head = f"{'' if first else _BETWEEN}{section.title}\n{written(len(body))}{RULE}\n\n"
        return head.encode(), body, ended(body)

    def name(self, item: Item) -> bytes:
        return name_line(item)

    def names(self, items: Sequence[Item], *, first: bool) -> Sequence[bytes]:
        body = b"".join(name_line(item) for item in items)
        return self.section(Section("names", f"By name only: {len(items)} files", body), first=first)


def _shown_part(item: Item) -> str:
    part = "" if item.level is Level.FULL else f"Level: {item.level.value}\n"
    if item.spans:
        part += f"Lines: {', '.join(f'{start}-{end}' for start, end in item.spans)}\n"
    return part
