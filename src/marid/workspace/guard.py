"""The guard by its one name: what a tool, or whoever calls one, needs of it."""

from marid.workspace.place import MOST_BYTES, Entry, OpenFolder, Place
from marid.workspace.territory import Territory
from marid.workspace.tree import Tree

__all__ = ["MOST_BYTES", "Entry", "OpenFolder", "Place", "Territory", "Tree"]
