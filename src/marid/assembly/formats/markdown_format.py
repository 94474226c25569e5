"""Markdown: headings and fences."""

import re
from collections.abc import Sequence

from marid.assembly.formats.format_table import TextFormat, missing_newline
from marid.assembly.items import ContextItem, Section
from marid.core.context import Level
from marid.syntax.languages import fence_of
from marid.text.display import quote_path

_BACKTICKS = re.compile(rb"`{3,}")


class MarkdownFormat(TextFormat):
    """Headings and fences; a fence is longer than any run of backticks inside it."""

    def item(self, item: ContextItem, *, first: bool) -> Sequence[bytes]:
        note = "" if item.level is Level.FULL else f" ({item.level.value})"
        fence = "" if item.level is Level.OUTLINE else fence_of(item.path)
        return _fenced_block(f"## {_inline_code(quote_path(item.path))}{note}", fence, item.body, first=first)

    def section(self, section: Section, *, first: bool) -> Sequence[bytes]:
        return _fenced_block(f"## {section.title}", section.fence_language, section.body, first=first)

    def names(self, items: Sequence[ContextItem], *, first: bool) -> Sequence[bytes]:
        return self.section(Section("names", "By name only", b"".join(map(self.name, items))), first=first)


def _inline_code(text: str) -> str:
    """`text` as inline code, with enough backticks around it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * (longest + 1)
    # CommonMark strips one blank from both ends.
    padded = longest or (text[:1] == " " == text[-1:] and not text.isspace())
    return f"{ticks} {text} {ticks}" if padded else f"`{text}`"


def _fenced_block(heading: str, fence: str, body: bytes, *, first: bool) -> Sequence[bytes]:
    longest = max((len(run) for run in _BACKTICKS.findall(body)), default=2)
    ticks = b"`" * (longest + 1)
    head = b"%b%b\n\n%b%b\n" % (b"" if first else b"\n", heading.encode(), ticks, fence.encode())
    return head, body, b"%b%b\n" % (missing_newline(body), ticks)
