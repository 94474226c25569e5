"""Looking into folders."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated, NamedTuple

from marid.core.errors import MaridError
from marid.core.policy.policy import Effect
from marid.text.display import human_size, quote_path
from marid.toolkit.handles import FolderRef
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import Alias, tool
from marid.tools.text_files import check_at_least, with_path_hints
from marid.workspace.guard.api import FolderEntry, GuardedPath

_MAX_LINES = 2_000
_MAX_DEPTH = 50
_SUFFIXES = {"dir": "/", "link": "@"}


@tool(family="files", effect=Effect.READ, aliases=(Alias(name="dir_list", defaults=(("show_hidden", False),)),))
def list_directory(
    path: Annotated[FolderRef, "the folder"],
    depth: Annotated[int, "how many levels; more than 1 makes it a tree"] = 1,
    show_hidden: Annotated[bool, "also names that begin with a dot"] = True,  # noqa: FBT002
) -> ToolOutput:
    """List a folder: kind, name and size of everything in it, folders first.

    With depth, folders in it are listed too, indented; those that ignore files or the built-in rules exclude (.venv,
    node_modules and the like) are named but not entered. Links are named and never followed.
    """
    check_at_least(1, depth=depth)
    return _list_folder(path, depth, _ListingStyle(_format_row, hidden=show_hidden))


@tool(family="files", effect=Effect.READ)
def get_tree(
    path: Annotated[FolderRef, "the folder"], max_depth: Annotated[int, "how many levels below it are shown"] = 3
) -> ToolOutput:
    """Show the structure of a folder, to max_depth levels.

    Folders end with a slash and come first; links end with @. Folders that ignore files or the built-in rules exclude
    (.venv, node_modules and the like) are named but not entered.
    """
    check_at_least(1, max_depth=max_depth)
    done = _list_folder(path, max_depth, _ListingStyle(_format_leaf, hidden=True))
    return ToolOutput(text=f"{quote_path(path.raw).rstrip('/')}/\n{done.text}", values=done.values)


class _ListingStyle(NamedTuple):
    line: Callable[[FolderEntry], str]
    hidden: bool


def _format_row(entry: FolderEntry) -> str:
    size = f" {human_size(entry.size)}" if entry.kind == "file" else ""
    return f"[{entry.kind}] {quote_path(entry.name)}{size}"


def _format_leaf(entry: FolderEntry) -> str:
    return quote_path(entry.name) + _SUFFIXES.get(entry.kind, "")


def _list_folder(path: FolderRef, depth: int, style: _ListingStyle) -> ToolOutput:
    with with_path_hints(path):
        rows = list(islice(_entry_lines(path.path, min(depth, _MAX_DEPTH), "", style), _MAX_LINES + 1))
    values = {"entries": min(len(rows), _MAX_LINES), "truncated": len(rows) > _MAX_LINES}
    if values["truncated"]:
        rows[-1] = f"(more than {_MAX_LINES:,} names: ask for a folder below, or for fewer levels)"
    return ToolOutput(text="\n".join(rows) or "(empty)", values=values)


def _entry_lines(place: GuardedPath, levels: int, indent: str, style: _ListingStyle) -> Iterator[str]:
    """One line for each entry, those of folders behind them. Raises: when `place` itself cannot be listed."""
    entries = sorted(place.entries(), key=lambda entry: (entry.kind != "dir", entry.name))
    # The folders that a walk enters.
    entered = [name for folder in islice(place.walk(), 1) for name in folder.folders] if levels > 1 else []
    for entry in entries:
        if not style.hidden and entry.name.startswith("."):
            continue
        if entry.kind != "dir" or levels == 1:
            yield indent + style.line(entry)
        elif entry.name not in entered:
            yield f"{indent}{style.line(entry)} (not entered)"
        else:
            yield indent + style.line(entry)
            try:
                yield from _entry_lines(place.below(entry.name), levels - 1, indent + "  ", style)
            except MaridError:
                yield f"{indent}  (cannot be opened)"
