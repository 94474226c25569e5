"""What a request of somebody else than the user leaves out, whatever its targets and rules say."""

import os
from collections.abc import Iterator

from marid.assembly.selection import Selection, Targets
from marid.core.context import ContextFence
from marid.core.errors import Refused
from marid.workspace.guard.protected_files import ProtectedFiles
from marid.workspace.guard.protected_names import without_history_files
from marid.workspace.walk import Folder


def check_targets(targets: Targets, fence: ContextFence) -> None:
    """Raise Refused for targets that lead out of the roots or into the home; links were followed when they were found.

    Whoever judged them before may have met another folder of that name.
    """
    if not any(_is_within(targets.top, root) for root in fence.roots):
        raise Refused("a target leads out of the folders that may be read")
    if _is_within(targets.top, os.path.realpath(fence.home)):
        raise Refused("a target is kept from every tool")


def without_protected(selection: Selection, fence: ContextFence) -> Selection:
    """The selection without what is withheld, hard links to it included."""
    return selection._replace(folders=list(_allowed_folders(selection, fence)))


def _allowed_folders(selection: Selection, fence: ContextFence) -> Iterator[Folder]:
    withheld = ProtectedFiles(fence.home, fence.roots)
    for path, names in selection.folders:
        folder = os.path.normpath(os.path.join(selection.top, path))
        kept = [name for name in without_history_files(names) if not _is_protected_link(f"{folder}/{name}", withheld)]
        if kept and not _is_within(folder, withheld.home):
            yield Folder(path, kept)


def _is_protected_link(path: str, withheld: ProtectedFiles) -> bool:
    try:
        return withheld.is_protected_link(os.lstat(path))
    except OSError:  # reading will say so
        return False


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
