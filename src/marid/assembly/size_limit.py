"""The size limit: judged before the first byte is written, and explained."""

import os
import re
from collections.abc import Iterable

from marid.assembly.selection import Selection
from marid.core.errors import Exhausted
from marid.text.display import human_size, quote_path
from marid.workspace.read import FileSize

_MEGABYTE = 1 << 20
_LARGEST_LISTED = 10


def check_size(selection: Selection, max_bytes: int) -> None:
    """Raises: Exhausted when the selected files hold more than `max_bytes`; it names the largest."""
    total = sum(measured.size for measured in selection.measure())
    if total > max_bytes:
        raise Exhausted(_limit_message(selection, total, max_bytes))


def _limit_message(selection: Selection, total: int, max_bytes: int) -> str:
    import heapq

    largest = heapq.nlargest(_LARGEST_LISTED, selection.measure(), key=lambda one: one.size)
    lines = [
        f"Total content size exceeds limit of {max_bytes / _MEGABYTE:g}MB: "
        f"{human_size(total)} in {selection.file_count():,} files.",
        "The largest, each with a rule that leaves it out:",
        *_largest_rows(largest),
        "Raise the limit with --max-size-mb N (or JINNI_MAX_SIZE_MB), or see everything with --list-only.",
    ]
    return "\n".join(lines)


def _largest_rows(largest: Iterable[FileSize]) -> list[str]:
    rows = [(human_size(one.size), quote_path(one.path), exclusion_rule(one.path)) for one in largest]
    width = max((len(path) for _, path, _ in rows), default=0)
    return [f"  {size:>9}  {path:<{width}}  --rule {_shell_quote(rule)}" for size, path, rule in rows]


def exclusion_rule(path: str) -> str:
    """A rule that excludes exactly this file."""
    escaped = re.sub(r"([\\*?\[])", r"\\\1", path)
    # A blank at the end of a rule is no part of it, unless it stands in a class.
    return "!/" + (f"{escaped[:-1]}[{escaped[-1]}]" if escaped[-1].isspace() else escaped)


def _shell_quote(rule: str) -> str:
    """For a shell: plain quotes where they do, else those in which bash and zsh read escapes."""
    if rule.isprintable():
        return "'" + rule.replace("'", "'\\''") + "'"
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\{byte:03o}" for byte in os.fsencode(rule))
    return f"$'{''.join(plain)}'"
