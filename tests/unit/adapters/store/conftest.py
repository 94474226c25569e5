"""A home in an empty folder, and where its conversation `c` is."""

from pathlib import Path

import pytest

from marid.adapters.store.conversations import FileConversations
from marid.adapters.store.layout import ConversationPaths, HomeLayout


@pytest.fixture
def home(tmp_path: Path) -> FileConversations:
    return FileConversations(str(tmp_path))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the conversation, which is not created."""
    return tmp_path / "contexts/c"


@pytest.fixture
def paths(tmp_path: Path) -> ConversationPaths:
    """The paths of the conversation; its folders are empty."""
    paths = HomeLayout(str(tmp_path)).paths("c")
    Path(paths.partitions).mkdir(parents=True)
    return paths
