"""Split the unified diffs of git by file."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from marid.text.display import unquote_path

_UNMERGED = b"* Unmerged path "
_HEADER = b"diff --git "
# Content lines begin with a space, a sign or a backslash, so these can only be headers.
_FILE_START = re.compile(rb"^(?=diff --git |\* Unmerged path )", re.MULTILINE)
_INDEX = re.compile(rb"^index [0-9a-f]+\.\.[0-9a-f]+ ([0-7]+)$", re.MULTILINE)
_HUNK = re.compile(rb"^@@ -[0-9,]+ \+([0-9]+)[0-9,]* @@", re.MULTILINE)
_MODE = re.compile(rb"^new (?:file )?mode ([0-7]+)$", re.MULTILINE)
_REGULAR_MODES = (b"100644", b"100755")


class FileDiff(NamedTuple):
    """The diff of one file. `name` is relative, with slashes."""

    name: str
    data: bytes

    def new_lines(self) -> Iterator[tuple[int, bytes]]:
        """The shown lines of the new file with their numbers; none for links and submodules.

        The hash in the header may belong to other content: git reads the file once for it and again for the lines.
        """
        head, *rest = _HUNK.split(self.data)
        mode = _MODE.search(head) or _INDEX.search(head)
        if mode is None or mode[1] not in _REGULAR_MODES:
            return
        for first, lines in zip(rest[::2], rest[1::2], strict=True):
            number = int(first)
            for line in lines.split(b"\n")[1:-1]:
                if line[:1] in (b" ", b"+"):
                    yield number, line[1:]
                    number += 1


def split_diff(diff: bytes) -> list[FileDiff]:
    """Split a diff that was made without renames and with the prefixes `a/` and `b/`."""
    return [FileDiff(_file_name(data.partition(b"\n")[0]), data) for data in _FILE_START.split(diff) if data]


def _file_name(line: bytes) -> str:
    if line.startswith(_UNMERGED):
        return _decode_name(line[len(_UNMERGED) :])
    # `a/NAME b/NAME`: both sides are equally long, so spaces in the name do not matter.
    both = line[len(_HEADER) :]
    return _decode_name(both[: (len(both) - 1) // 2]).removeprefix("a/")


def _decode_name(data: bytes) -> str:
    return unquote_path(data.decode("utf-8", "surrogateescape"))
