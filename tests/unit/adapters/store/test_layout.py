"""Paths below a home, and names that are not allowed."""

from pathlib import Path

import pytest

from marid.adapters.store.layout import HomeLayout
from marid.core.errors import BadInput, NotFound, Refused


def test_the_files_are_those_of_the_documents() -> None:
    paths = HomeLayout("/h").paths("c")
    assert paths.window == "/h/contexts/c/context.jsonl"
    assert paths.meta == "/h/contexts/c/context_meta.json"
    assert paths.active == "/h/contexts/c/transcript/active.jsonl"
    assert paths.transcript_file() == "/h/contexts/c/transcript"
    assert paths.partitions == "/h/contexts/c/transcript/partitions"
    assert paths.note("todos") == "/h/contexts/c/todos.md"
    assert paths.note("system_prompt") == "/h/contexts/c/system_prompt.md"
    assert paths.note("reflection") == "/h/prompts/reflection.md"
    with pytest.raises(BadInput):
        paths.note("x")


def test_a_link_or_a_file_is_no_conversation(tmp_path: Path) -> None:
    layout = HomeLayout(str(tmp_path))
    assert layout.conversation_names() == []
    contexts = tmp_path / "contexts"
    (contexts / "real").mkdir(parents=True)
    (contexts / "link").symlink_to(contexts / "real")
    (contexts / "file").touch()
    (contexts / ".destroyed-x").mkdir()
    assert layout.conversation_names() == ["real"]
    assert layout.existing_paths("real").name == "real"
    for name in ("link", "file"):
        with pytest.raises(Refused):
            layout.existing_paths(name)
    with pytest.raises(NotFound):
        layout.existing_paths("other")
