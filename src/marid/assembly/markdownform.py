"""Markdown: headings and fences."""

import re
from collections.abc import Sequence

from marid.assembly.items import Item, Section
from marid.assembly.render import ended, name_line
from marid.core.context import Level
from marid.syntax.languages import fence_of
from marid.text.visible import shown_path

_BACKTICKS = re.compile(rb"`{3,}")


class MarkdownForm:
    """Headings and fences; a fence is longer than any run of backticks inside it."""

    def opening(self) -> bytes:
        return b""

    def closing(self) -> bytes:
        return b""

    def item(self, item: Item, *, first: bool) -> Sequence[bytes]:
        note = "" if item.level is Level.FULL else f" ({item.level.value})"
        fence = "" if item.level is Level.OUTLINE else fence_of(item.path)
        return _fenced(f"## {_code(shown_path(item.path))}{note}", fence, item.body, first=first)

    def section(self, section: Section, *, first: bool) -> Sequence[bytes]:
        return _fenced(f"## {section.title}", section.fence, section.body, first=first)

    def name(self, item: Item) -> bytes:
        return name_line(item)

    def names(self, items: Sequence[Item], *, first: bool) -> Sequence[bytes]:
        body = b"".join(name_line(item) for item in items)
        return _fenced("## By name only", "", body, first=first)


def _code(text: str) -> str:
    """`text` as inline code, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * (longest + 1)
    # A reader takes one blank away at each end where both are there.
    padded = longest or (text[:1] == " " == text[-1:] and not text.isspace())
    return f"{ticks} {text} {ticks}" if padded else f"`{text}`"


def _fenced(heading: str, fence: str, body: bytes, *, first: bool) -> Sequence[bytes]:
    longest = max((len(run) for run in _BACKTICKS.findall(body)), default=2)
    ticks = b"`" * (longest + 1)
    head = b"%b%b\n\n%b%b\n" % (b"" if first else b"\n", heading.encode(), ticks, fence.encode())
    return head, body, b"%b%b\n" % (ended(body), ticks)
