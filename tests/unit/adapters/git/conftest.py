"""A repository with a change, and a program that reports that it was run."""

from pathlib import Path

import pytest

from fakes.worktree import Canary, Worktree, new_canary, new_worktree


@pytest.fixture
def tree(tmp_path: Path) -> Worktree:
    tree = new_worktree(tmp_path)
    tree.commit("first", {"a.txt": b"one\n", "sub/b.txt": b"two\n"})
    tree.write("a.txt", b"1\n")
    return tree


@pytest.fixture
def canary(tmp_path: Path) -> Canary:
    return new_canary(tmp_path)
