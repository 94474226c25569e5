"""Conversations as text for a terminal: lists, logs and search hits, with control characters escaped."""

import sys
from collections.abc import Iterable, Iterator, Sequence

from marid.core.conversation.entry import ANCHORS, MESSAGE, TOOL_CALL, TOOL_RESULT, TOOL_STARTED, Entry
from marid.core.conversation.entry_json import status_mark
from marid.faces.cli.view.console import count_text, escape_controls, print_line
from marid.text.display import clip

PREVIEW = 60
_HIDDEN_TYPES = ANCHORS | {TOOL_STARTED}


def print_untrusted(text: str, *, bold: Sequence[str] = ()) -> None:
    """Print text from outside: unchanged to a file or pipe; on a terminal escaped, with some words in bold."""
    if sys.stdout.isatty():
        text = highlight(escape_controls(text), bold)
    # A lone surrogate, which JSON can hold and UTF-8 cannot, is escaped.
    print_line(text.encode("utf-8", "backslashreplace").decode())


def align_columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Rows as lines, each column as wide as its widest cell."""
    table = list(rows)
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width)
        yield "  ".join(cells).rstrip()


def is_visible(entry: Entry, *, verbose: bool) -> bool:
    """Whether a log shows this entry; started calls and anchors only if `verbose`."""
    return verbose or entry.entry_type not in _HIDDEN_TYPES


def entry_text(entry: Entry, *, verbose: bool) -> str:
    """An entry of a log: messages in full, calls and results shortened unless `verbose`."""
    if entry.entry_type == MESSAGE:
        return f"[{one_line(entry.sender)}]{status_mark(entry)}\n{entry.content.rstrip()}\n"
    if entry.entry_type == TOOL_CALL:
        words = entry.content if verbose else _preview(entry.content)
        return f"[call: {one_line(entry.to)}] {words}{status_mark(entry)}\n"
    if entry.entry_type == TOOL_RESULT:
        size = count_text(len(entry.content.encode("utf-8", "surrogatepass")), "byte")
        return f"[result: {one_line(entry.sender)}] {entry.content if verbose else size}{status_mark(entry)}\n"
    if entry.entry_type == TOOL_STARTED:
        return f"[started: {one_line(entry.to)}]\n"
    return f"[{one_line(entry.entry_type)}] {entry.content if verbose else _preview(entry.content)}".rstrip() + "\n"


def one_line(text: str) -> str:
    """`text` on one line."""
    return " ".join(text.split())


def _preview(text: str) -> str:
    return clip(one_line(text), PREVIEW + 1)


def highlight(text: str, words: Iterable[str]) -> str:
    """`text` with `words` in bold."""
    import re

    wanted = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.sub(wanted, lambda found: f"\x1b[1m{found[0]}\x1b[0m", text, flags=re.IGNORECASE) if wanted else text


def excerpt(text: str, words: Iterable[str], around: int = 200) -> str:
    """The text around the first of `words`: its line, cut to `around` characters on each side."""
    low = text.casefold()
    places = [at for word in words if (at := low.find(word.casefold())) >= 0]
    at = min(places, default=0)
    begin = max(0, text.rfind("\n", 0, at) + 1, at - around)
    end = text.find("\n", at)
    end = min(len(text) if end < 0 else end, at + around)
    return f"{'…' if begin else ''}{text[begin:end].strip()}{'…' if end < len(text.rstrip()) else ''}"
