from pathlib import Path

import pytest

from fakes.conversations import FakeConversations
from marid.adapters.store.conversations import FileConversations
from marid.core.errors import BadInput, Refused
from marid.engine.conversation_notes import ConversationNotes, HomeReflection
from marid.ports.conversations import Conversations


@pytest.fixture(params=["files", "fake"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Conversations:
    return FakeConversations() if request.param == "fake" else FileConversations(str(tmp_path / "home"))


@pytest.mark.parametrize("name", ["todos", "goals"])
def test_todos_and_goals_are_replaced_as_a_whole(name: str, store: Conversations) -> None:
    with store.open("c", create=True) as held:
        notes = ConversationNotes(held)
        notes.write(name, "- one\n- two")
        notes.write(name, "- three")
        assert store.read("c").read_note(name) == "- three"
        notes.write(name, "")
        assert store.read("c").read_note(name) == ""


@pytest.mark.parametrize("name", ["system_prompt", "summary", "reflection", "../x", ""])
def test_no_other_note_is_the_models(name: str, store: Conversations) -> None:
    with store.open("c", create=True) as held, pytest.raises(BadInput, match="todos and goals"):
        ConversationNotes(held).write(name, "x")


def test_an_archived_conversation_takes_no_notes(store: Conversations) -> None:
    store.create("c")
    store.archive("c")
    with store.open("c") as held, pytest.raises(Refused):
        ConversationNotes(held).write("todos", "x")


def test_a_reflection_is_shared_by_all_conversations(store: Conversations) -> None:
    store.create("other")
    with store.open("c", create=True) as held:
        HomeReflection(held, 100).write("the user likes tea")
    assert store.read("other").read_note("reflection") == "the user likes tea"


def test_a_reflection_over_the_limit_is_an_error_and_the_old_one_stays(store: Conversations) -> None:
    with store.open("c", create=True) as held:
        reflection = HomeReflection(held, 10)
        reflection.write("é" * 10)
        with pytest.raises(BadInput, match="at most 10 characters, this one 11"):
            reflection.write("x" * 11)
        assert held.read_note("reflection") == "é" * 10
