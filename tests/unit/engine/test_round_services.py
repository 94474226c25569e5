from pathlib import Path

import pytest

from fakes.dispatcher import CallHarness
from fakes.model import FakeModel
from marid.adapters.store.conversations import FileConversations
from marid.core.errors import BadInput, Refused
from marid.core.settings.values import Settings, make_settings
from marid.engine.round_services import ConversationNotes, conversation_services, home_services
from marid.ports.handoff import Handoff
from marid.ports.model import ModelLookup
from marid.ports.notes import NoteWriter, ReflectionWriter
from marid.ports.peers import Peers
from marid.toolkit.inventory import load_tools
from marid.toolkit.outcome import ResultLimit

TOOLS = load_tools("marid.tools.conversation_tools")


@pytest.fixture
def store(tmp_path: Path) -> FileConversations:
    return FileConversations(str(tmp_path / "home"))


def services(store: FileConversations, settings: Settings) -> dict[type, object]:
    own = conversation_services(store.open("mine", create=True), settings)
    return home_services("mine", store, store.inbox, FakeModel()) | own


def names(road: CallHarness, given: dict[type, object]) -> set[str]:
    return {spec.name for spec in road.offered(road.scope(services=given))}


def test_a_round_gives_its_tools_every_port_that_they_need(store: FileConversations, tmp_path: Path) -> None:
    given = services(store, Settings())
    assert set(given) == {NoteWriter, ReflectionWriter, Peers, Handoff, ModelLookup, ResultLimit}
    assert names(CallHarness(tmp_path, *TOOLS), given) == {spec.name for spec in TOOLS}


def test_without_reflection_its_tool_is_neither_listed_nor_run(store: FileConversations, tmp_path: Path) -> None:
    given = services(store, make_settings(reflection_enabled=False))
    road = CallHarness(tmp_path, *TOOLS)
    assert {spec.name for spec in TOOLS} - names(road, given) == {"update_reflection"}
    outcome = road.call("update_reflection", {"content": "x"}, road.scope(services=given))
    assert not outcome.ok
    assert "not available here" in outcome.text


@pytest.mark.parametrize("name", ["system_prompt", "summary", "reflection", "../x", ""])
def test_no_other_note_is_the_models(name: str, store: FileConversations) -> None:
    with store.open("c", create=True) as held, pytest.raises(BadInput, match="todos and goals"):
        ConversationNotes(held).write(name, "x")


def test_an_archived_conversation_takes_no_notes(store: FileConversations) -> None:
    store.create("c")
    store.archive("c")
    with store.open("c") as held, pytest.raises(Refused):
        ConversationNotes(held).write("todos", "x")
