"""What is shown instead of or before the files: path list, tree, statistics, git log and diff."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from marid.assembly.assembler import Assembler
from marid.assembly.items import Batch, Buffers, ContextItem, Section, Tally, tally_item
from marid.assembly.selection import Selection, iter_paths, make_admission_check
from marid.core.context import ContextView, OutputFormat
from marid.text.display import human_size, quote_path
from marid.text.git_text import split_diff
from marid.workspace.walk import Folder

_BATCH_FOLDERS = 4000
_MAX_FOLDERS_SHOWN = 40
_MAX_LARGEST = 10

Mask: TypeAlias = Callable[[bytes, str], tuple[bytes, int]]


def make_sections(work: Assembler) -> Iterator[Section]:
    """The tree, log and diff before the files, with secrets masked."""
    shown, selection, mask = work.request.render, work.selection, work.item_builder.mask
    if shown.with_tree:
        lines = render_tree(map(FileRow, selection.paths()), selection.top)
        yield Section("tree", "Tree", "".join(f"{line}\n" for line in lines).encode())
    if shown.log:
        body, masked = mask(_to_valid_utf8(work.ports.git().log(selection.top, shown.log)), "git.log")
        yield Section("git_log", f"Git Log: last {shown.log} commits", body, masked=masked)
    if shown.diff is not None:
        body, masked = masked_diff(work.ports.git().diff(selection.top, shown.diff or None), selection, mask)
        yield Section("git_diff", f"Git Diff: {shown.diff or 'HEAD'}", body, "diff", masked)


def masked_diff(output: bytes, selection: Selection, mask: Mask) -> tuple[bytes, int]:
    """The parts of a diff whose files are, or would have been, selected, and the number of masked secrets."""
    is_admitted = make_admission_check(selection)
    kept: list[bytes] = []
    masked = 0
    for path, part in split_diff(output):
        if is_admitted(path):
            # Mask removed secrets too: the minus before each line must not hide them.
            text, count = mask(_to_valid_utf8(part).replace(b"\n-", b"\n\v"), path)
            kept.append(text.replace(b"\n\v", b"\n-"))
            masked += count
    return b"".join(kept), masked


def _to_valid_utf8(output: bytes) -> bytes:
    """Replace bytes that are not UTF-8; git copies contents unchanged."""
    return output if output.isascii() else output.decode("utf-8", "replace").encode()


def render_views(work: Assembler) -> Iterator[Batch]:
    """The list, the tree or the statistics."""
    shown = work.request.render
    if ContextView.LIST in shown.views:
        for buffers in render_paths(work.selection.folders, null=shown.null, form=shown.form):
            yield Batch(buffers)
        yield Batch([], Tally(files=work.selection.file_count()))
        return
    items: Iterable[ContextItem] = map(work.item_builder.build, work.contents())
    if ContextView.STATS in shown.views or shown.tokens:
        items = work.count_tokens(items)
    rows: list[FileRow] = []
    for item in items:
        rows.append(FileRow(item.path, item.size, item.tokens))
        yield Batch([], tally_item(item))
    yield Batch([], Tally(binaries=work.reader.binaries))
    mark = "≈" if rows and rows[0].tokens is not None and not work.counter.exact else ""
    if ContextView.TREE in shown.views:
        yield Batch([f"{line}\n".encode() for line in render_tree(rows, work.selection.top, mark=mark)])
    if ContextView.STATS in shown.views:
        found, encoding = compute_statistics(rows), work.counter.name
        if shown.form is OutputFormat.JSON:
            yield Batch([statistics_json(found, encoding=encoding, exact=work.counter.exact)])
            return
        lines = statistics_text(found, encoding=encoding, mark=mark)
        yield Batch([b"\n" if ContextView.TREE in shown.views else b"", *(f"{line}\n".encode() for line in lines)])


def render_paths(folders: Iterable[Folder], *, null: bool, form: OutputFormat) -> Iterator[Buffers]:
    """One path per line, quoted if needed; with `null` raw and separated by NUL."""
    if form is OutputFormat.JSON:
        yield [json_bytes([quote_path(path) for path in iter_paths(folders)])]
        return
    end = "\0" if null else "\n"
    batch: Buffers = []
    for path, names in folders:
        prefix = f"{path}/" if path else ""
        joined = prefix + "/".join(names)
        if null or (joined.isprintable() and '"' not in joined):
            text = prefix + f"{end}{prefix}".join(names) + end
        else:
            text = "".join(quote_path(prefix + name) + end for name in names)
        batch.append(os.fsencode(text))
        if len(batch) == _BATCH_FOLDERS:
            yield batch
            batch = []
    yield batch


def json_bytes(value: object) -> bytes:
    """`value` as indented JSON."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


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
    root = _TreeFolder([], {})
    for row in rows:
        at = root
        *folders, name = row.path.split("/")
        for folder in folders:
            at = at.folders.setdefault(folder, _TreeFolder([], {}))
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


class _TreeFolder(NamedTuple):
    """A folder of the tree."""

    rows: list[tuple[str, FileRow]]
    folders: "dict[str, _TreeFolder]"


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
            "largest": [{"path": quote_path(path), "bytes": size, "tokens": n} for path, size, n in found.largest],
        }
    )


def _columns(rows: list[tuple[str, str, str, str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, 4) if widths[i])]
        yield "  ".join(cells).rstrip()
