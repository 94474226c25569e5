"""The guard by its one name: what a tool, or whoever calls one, needs of it."""

from marid.workspace.place import MAX_FILE_BYTES, FolderEntry, GuardedPath, OpenFolder
from marid.workspace.territory import PathScope
from marid.workspace.tree import GuardedRoot

__all__ = ["MAX_FILE_BYTES", "FolderEntry", "GuardedPath", "GuardedRoot", "OpenFolder", "PathScope"]
