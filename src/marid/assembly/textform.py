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
            extra += f"Content: {len(body)} bytes\n"
        header = (
            f"{'' if first else _BETWEEN}File: {shown_path(item.path)}\nSize: {item.size} bytes\n"
            f"Last Modified: {moment(item.modified)}\n{extra}{RULE}\n\n"
        )
        return header.encode(), body, ended(body)

    def section(self, section: Section, *, first: bool) -> Sequence[bytes]:
        body = section.body
        header = f"{'' if first else _BETWEEN}{section.title}\nContent: {len(body)} bytes\n{RULE}\n\n"
        return header.encode(), body, ended(body)

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
