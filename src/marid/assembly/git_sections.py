"""What git tells, as far as it is about the selected files, and without secrets."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from marid.assembly.selection import Selection, make_admission_check
from marid.text.display import unquote_path

Mask: TypeAlias = Callable[[bytes, str], tuple[bytes, int]]

_HEADER = b"diff --git "
_RENAME_PREFIXES = (b"rename to ", b"copy to ")
# Where the header lines of a file's part end.
_HEADER_ENDS = (b"--- ", b"@@ ", b"Binary files ", b"GIT binary patch")


def masked_log(output: bytes, mask: Mask) -> tuple[bytes, int]:
    """A log, and how many secrets were masked in it."""
    return mask(_to_valid_utf8(output), "git.log")


def masked_diff(output: bytes, selection: Selection, mask: Mask) -> tuple[bytes, int]:
    """The parts of a diff whose files are selected, or would be if they were still there; and the secrets masked.

    Each part is masked as its file is.
    """
    is_admitted = make_admission_check(selection)
    kept: list[bytes] = []
    masked = 0
    for path, part in _split_by_file(output):
        if is_admitted(path):
            # A key that was taken out is a key: the minus before each of its lines must not hide it.
            text, count = mask(_to_valid_utf8(part).replace(b"\n-", b"\n\v"), path)
            kept.append(text.replace(b"\n\v", b"\n-"))
            masked += count
    return b"".join(kept), masked


def _split_by_file(diff: bytes) -> Iterator[tuple[str, bytes]]:
    """The diff file by file, each with the path that the file has now."""
    # Every line of a file's content has a mark before it, so that none can be taken for a header.
    for piece in (b"\n" + diff.removesuffix(b"\n")).split(b"\n" + _HEADER)[1:]:
        yield unquote_path(_current_path(piece).decode("utf-8", "surrogateescape")), _HEADER + piece + b"\n"


def _current_path(piece: bytes) -> bytes:
    names, *lines = piece.split(b"\n")
    for line in lines:
        if line.startswith(_HEADER_ENDS):
            break
        if line.startswith(_RENAME_PREFIXES):
            return line.partition(b" to ")[2]
    # Otherwise the line holds the same name twice: `a/name b/name`, each quoted where that is needed.
    second = names[len(names) // 2 + 1 :]
    return b'"' + second[3:] if second.startswith(b'"') else second[2:]


def _to_valid_utf8(output: bytes) -> bytes:
    """git quotes what files hold byte for byte; what is no UTF-8 is replaced."""
    return output if output.isascii() else output.decode("utf-8", "replace").encode()
