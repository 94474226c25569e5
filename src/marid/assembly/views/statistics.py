"""Render the tree and the statistics of files."""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from marid.assembly.views.path_list import json_bytes
from marid.text.display import human_size, quote_path

_MAX_FOLDERS_SHOWN = 40
_MAX_LARGEST = 10


class FileRow(NamedTuple):
    """One file of a tree or of the statistics."""

    path: str
    size: int = 0
    tokens: int | None = None


class Totals(NamedTuple):
    """The sum over some files."""

    files: int = 0
    bytes: int = 0
    tokens: int = 0

    def add_row(self, row: FileRow) -> "Totals":
        """With one more file."""
        return Totals(self.files + 1, self.bytes + row.size, self.tokens + (row.tokens or 0))


def render_tree(rows: Iterable[FileRow], top: str, *, mark: str = "") -> Iterator[str]:
    """The files as a tree, with token counts if known (`mark` before an estimate)."""
    root = _TreeFolder({})
    for row in rows:
        at = root
        *folders, name = row.path.split("/")
        for folder in folders:
            at = at.folders.setdefault(folder, _TreeFolder({}))
        at.rows.append((name, row))
    yield f"{quote_path(os.path.basename(top) or top)}/"
    # An explicit stack: the tree may be deeper than the recursion limit.
    todo = _folder_nodes(root, "")
    while todo:
        indent, name, node, last = todo.pop()
        stem = f"{indent}{'└── ' if last else '├── '}{quote_path(name)}"
        if isinstance(node, _TreeFolder):
            yield f"{stem}/"
            todo += _folder_nodes(node, indent + ("    " if last else "│   "))
        else:
            yield stem + ("" if node.tokens is None else f" ({mark}{node.tokens:,} tokens)")


class _TreeFolder:
    """A folder of the tree."""

    def __init__(self, branches: "dict[str, _TreeFolder]") -> None:
        self.folders = branches
        self.rows: list[tuple[str, FileRow]] = []


def _folder_nodes(branch: _TreeFolder, indent: str) -> list[tuple[str, str, FileRow | _TreeFolder, bool]]:
    """The entries of a folder, files before folders, in reverse order for the stack."""
    nodes: list[tuple[str, FileRow | _TreeFolder]] = [*sorted(branch.rows), *sorted(branch.folders.items())]
    return [(indent, name, node, at + 1 == len(nodes)) for at, (name, node) in enumerate(nodes)][::-1]


class Statistics(NamedTuple):
    """Totals, also per folder with everything below it, and the largest files."""

    total: Totals
    folders: dict[str, Totals]
    largest: list[FileRow]


def compute_statistics(rows: Iterable[FileRow]) -> Statistics:
    """Add everything up."""
    total = Totals()
    folders: dict[str, Totals] = {}
    largest: list[FileRow] = []
    for row in rows:
        total = total.add_row(row)
        parts = row.path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            folders[folder] = folders.get(folder, Totals()).add_row(row)
        largest.append(row)
        if len(largest) > 50 * _MAX_LARGEST:
            largest = _largest_rows(largest)
    return Statistics(total, folders, _largest_rows(largest))


def _largest_rows(rows: list[FileRow]) -> list[FileRow]:
    return sorted(rows, key=lambda row: (-(row.tokens or row.size), row.path))[:_MAX_LARGEST]


def statistics_text(found: Statistics, *, encoding: str, mark: str) -> Iterator[str]:
    """The statistics as text."""
    total = found.total
    yield f"{total.files:,} files, {human_size(total.bytes)}, {mark}{total.tokens:,} tokens ({encoding})"
    ranked = sorted(found.folders.items(), key=lambda pair: (-pair[1].tokens, pair[0]))
    if ranked:
        yield ""
        yield from _columns(
            [("folder", "files", "bytes", "tokens")]
            + [
                (f"{quote_path(path)}/", f"{sums.files:,}", human_size(sums.bytes), f"{mark}{sums.tokens:,}")
                for path, sums in ranked[:_MAX_FOLDERS_SHOWN]
            ]
        )
    if len(ranked) > _MAX_FOLDERS_SHOWN:
        yield f"and {len(ranked) - _MAX_FOLDERS_SHOWN:,} more folders"
    if found.largest:
        yield ""
        yield from _columns(
            [("largest files", "", "bytes", "tokens")]
            + [(quote_path(row.path), "", human_size(row.size), f"{mark}{row.tokens or 0:,}") for row in found.largest]
        )


def statistics_json(found: Statistics, *, encoding: str, exact: bool) -> bytes:
    """The statistics as JSON."""
    return json_bytes(
        {
            **found.total._asdict(),
            "encoding": encoding,
            "exact": exact,
            "folders": [{"path": quote_path(path), **sums._asdict()} for path, sums in sorted(found.folders.items())],
            "largest": [
                {"path": quote_path(row.path), "bytes": row.size, "tokens": row.tokens} for row in found.largest
            ],
        }
    )


def _columns(rows: list[tuple[str, str, str, str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, 4) if widths[i])]
        yield "  ".join(cells).rstrip()
