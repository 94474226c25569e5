"""The git log and diff, limited to the selected files and with secrets masked."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from marid.assembly.selection import Selection, make_admission_check
from marid.text.display import unquote_path

Mask: TypeAlias = Callable[[bytes, str], tuple[bytes, int]]

_HEADER = b"diff --git "
_RENAME_PREFIXES = (b"rename to ", b"copy to ")
# The first line after the header of a file's part.
_HEADER_ENDS = (b"--- ", b"@@ ", b"Binary files ", b"GIT binary patch")


def masked_log(output: bytes, mask: Mask) -> tuple[bytes, int]:
    """The log, and the number of masked secrets."""
    return mask(_to_valid_utf8(output), "git.log")


def masked_diff(output: bytes, selection: Selection, mask: Mask) -> tuple[bytes, int]:
    """The parts of a diff whose files are, or would have been, selected, and the number of masked secrets."""
    is_admitted = make_admission_check(selection)
    kept: list[bytes] = []
    masked = 0
    for path, part in _split_by_file(output):
        if is_admitted(path):
            # Mask removed secrets too: the minus before each line must not hide them.
            text, count = mask(_to_valid_utf8(part).replace(b"\n-", b"\n\v"), path)
            kept.append(text.replace(b"\n\v", b"\n-"))
            masked += count
    return b"".join(kept), masked


def _split_by_file(diff: bytes) -> Iterator[tuple[str, bytes]]:
    """The parts of a diff, each with the present path of its file."""
    # Every content line has a prefix, so that none looks like a header.
    for piece in (b"\n" + diff.removesuffix(b"\n")).split(b"\n" + _HEADER)[1:]:
        yield unquote_path(_current_path(piece).decode("utf-8", "surrogateescape")), _HEADER + piece + b"\n"


def _current_path(piece: bytes) -> bytes:
    names, *lines = piece.split(b"\n")
    for line in lines:
        if line.startswith(_HEADER_ENDS):
            break
        if line.startswith(_RENAME_PREFIXES):
            return line.partition(b" to ")[2]
    # Otherwise the line has the same name twice: `a/name b/name`, quoted if needed.
    second = names[len(names) // 2 + 1 :]
    return b'"' + second[3:] if second.startswith(b'"') else second[2:]


def _to_valid_utf8(output: bytes) -> bytes:
    """Replace bytes that are not UTF-8; git copies contents unchanged."""
    return output if output.isascii() else output.decode("utf-8", "replace").encode()
