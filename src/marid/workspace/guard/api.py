"""The names of the guard that other packages use."""

from marid.workspace.guard.guarded_path import MAX_FILE_BYTES, FolderEntry, GuardedPath, GuardedRoot, OpenFolder
from marid.workspace.guard.path_scope import PathScope

__all__ = ["MAX_FILE_BYTES", "FolderEntry", "GuardedPath", "GuardedRoot", "OpenFolder", "PathScope"]
