from pathlib import Path

from fakes.conversations import FakeConversations
from fakes.model import FakeModel
from fakes.road import Road
from marid.core.settings.values import Settings, make_settings
from marid.engine.round_services import conversation_services
from marid.ports.handoff import Handoff
from marid.ports.model import ModelLookup
from marid.ports.notes import NoteWriter, ReflectionWriter
from marid.ports.peers import Peers
from marid.toolkit.clip import ResultLimit
from marid.tools.conversation_tools import TOOLS


def services(settings: Settings, store: FakeConversations | None = None) -> dict[type, object]:
    store = store or FakeConversations()
    return conversation_services(store.open("mine", create=True), store, store.inbox, FakeModel(), settings)


def names(road: Road, given: dict[type, object]) -> set[str]:
    return {spec.name for spec in road.dispatcher.tools_for(road.scope(services=given))}


def test_a_round_gives_its_tools_every_port_that_they_need(tmp_path: Path) -> None:
    given = services(Settings())
    assert set(given) == {NoteWriter, ReflectionWriter, Peers, Handoff, ModelLookup, ResultLimit}
    assert names(Road(tmp_path, *TOOLS), given) == {spec.name for spec in TOOLS}


def test_without_reflection_its_tool_is_neither_listed_nor_run(tmp_path: Path) -> None:
    given = services(make_settings(reflection_enabled=False))
    road = Road(tmp_path, *TOOLS)
    assert {spec.name for spec in TOOLS} - names(road, given) == {"update_reflection"}
    outcome = road.call("update_reflection", {"content": "x"}, road.scope(services=given))
    assert not outcome.ok
    assert "not available here" in outcome.text


def test_the_limit_of_the_settings_holds(tmp_path: Path) -> None:
    road = Road(tmp_path, *TOOLS)
    given = services(make_settings(reflection_character_limit=3))
    assert not road.call("update_reflection", {"content": "long"}, road.scope(services=given)).ok


def test_messages_are_sent_in_the_name_of_the_conversation(tmp_path: Path) -> None:
    road, store = Road(tmp_path, *TOOLS), FakeConversations()
    given = services(Settings(), store)
    assert road.call("send_message", {"to": "other", "content": "hi"}, road.scope(services=given)).ok
    assert [message.sender for message in store.peek("other")] == ["mine"]
