"""The size limit, checked before the first byte is written."""

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
    """Raises: Exhausted if the selected files are larger than `max_bytes`; the error lists the largest."""
    total = sum(measured.size for measured in selection.measure())
    if total > max_bytes:
        raise Exhausted(_limit_message(selection, total, max_bytes))


def _limit_message(selection: Selection, total: int, max_bytes: int) -> str:
    import heapq

    largest = heapq.nlargest(_LARGEST_LISTED, selection.measure(), key=lambda one: one.size)
    lines = [
        f"Total content size exceeds limit of {max_bytes / _MEGABYTE:g}MB: "
        f"{human_size(total)} in {selection.file_count():,} files.",
        "The largest files, each with a rule that excludes it:",
        *_largest_rows(largest),
        "Raise the limit with --max-size-mb N (or JINNI_MAX_SIZE_MB), or list all files with --list-only.",
    ]
    return "\n".join(lines)


def _largest_rows(largest: Iterable[FileSize]) -> list[str]:
    rows = [(human_size(one.size), quote_path(one.path), exclusion_rule(one.path)) for one in largest]
    width = max((len(path) for _, path, _ in rows), default=0)
    return [f"  {size:>9}  {path:<{width}}  --rule {_shell_quote(rule)}" for size, path, rule in rows]


def exclusion_rule(path: str) -> str:
    """A rule that excludes exactly this file."""
    escaped = re.sub(r"([\\*?\[])", r"\\\1", path)
    # A trailing blank is stripped from a rule, unless it is in a class.
    return "!/" + (f"{escaped[:-1]}[{escaped[-1]}]" if escaped[-1].isspace() else escaped)


def _shell_quote(rule: str) -> str:
    """Quote for a shell; unprintable characters need `$'...'` of bash and zsh."""
    if rule.isprintable():
        return "'" + rule.replace("'", "'\\''") + "'"
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\{byte:03o}" for byte in os.fsencode(rule))
    return f"$'{''.join(plain)}'"
