"""Unified diffs of git, taken apart by file."""

import re
from typing import NamedTuple

from marid.text.visible import unquoted_path

_UNMERGED = b"* Unmerged path "
_HEADER = b"diff --git "
# Every line of content begins with a blank, a sign or a backslash, so these can only be headers.
_BEGINNING = re.compile(rb"^(?=diff --git |\* Unmerged path )", re.MULTILINE)


class Part(NamedTuple):
    """What a diff says about one file. `name` is relative, with slashes."""

    name: str
    data: bytes


def parts(diff: bytes) -> list[Part]:
    """The parts of a diff that was made without renames and with the prefixes `a/` and `b/`."""
    return [Part(_name(data.partition(b"\n")[0]), data) for data in _BEGINNING.split(diff) if data]


def _name(line: bytes) -> str:
    if line.startswith(_UNMERGED):
        return _text(line[len(_UNMERGED) :])
    # `a/NAME b/NAME`: both sides are equally long, so blanks in the name do not matter.
    both = line[len(_HEADER) :]
    return _text(both[: (len(both) - 1) // 2]).removeprefix("a/")


def _text(data: bytes) -> str:
    return unquoted_path(data.decode("utf-8", "surrogateescape"))
