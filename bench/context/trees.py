"""The trees to measure on; `planting` makes them.

Every file that must be in an output starts with a line that holds its number, and every file that must not be there
holds a marker, so one pass over an output proves what is in it.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

VERSION = 2  # another number, another tree
NAMES = ("tiny", "tall", "big", "wide", "crowd")
PRUNED = b"@@must-not-appear@@"
BINARY = b"@@binary\x00blob@@"


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A tree on disk; the names of its files are in a file beside it."""

    name: str
    root: str
    files: int
    size: int
    largest: int


def place(folder: str, name: str) -> str:
    """The root of a tree, whether it exists or not."""
    return f"{folder}/{name}-v{VERSION}"


def facts_file(root: str) -> str:
    """The facts about a tree; the file exists when the tree is complete."""
    return f"{root}.json"


def names_file(root: str) -> str:
    """The names of a tree's files and their numbers."""
    return f"{root}.names.json"


def marker(name: str, number: int) -> bytes:
    """The first line of a file that must appear in the output."""
    return b"@@file %06d of %b@@\n" % (number, name.encode())


def prepare(folder: str) -> dict[str, Tree]:
    """All trees; missing ones are made in a separate process."""
    if not all(os.path.exists(facts_file(place(folder, name))) for name in NAMES):
        subprocess.run([sys.executable, "-m", "bench.context.planting", folder], check=True)
    return {name: load(folder, name) for name in NAMES}


def load(folder: str, name: str) -> Tree:
    """A tree that has been made."""
    root = place(folder, name)
    with open(facts_file(root), encoding="utf-8") as file:
        return Tree(name=name, root=root, **json.load(file))
