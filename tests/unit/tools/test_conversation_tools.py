import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fakes.dispatcher import CallHarness
from fakes.model import FakeModel
from marid.adapters.store.conversations import FileConversations
from marid.core.conversation.entry import AGENT, MESSAGE, USER, Entry
from marid.core.model_io import ModelInfo
from marid.core.policy.policy import Effect, Policy
from marid.core.settings.values import make_settings
from marid.engine.round_services import conversation_services, home_services
from marid.ports.model import ModelLookup
from marid.ports.transcript import Conversation
from marid.toolkit.inventory import load_tools
from marid.toolkit.outcome import Outcome
from marid.toolkit.params import tool_schema
from marid.tools.conversation_tools import MAX_CHARACTERS, MAX_MESSAGES, call_agent

TOOLS = load_tools("marid.tools.conversation_tools")


class Round:
    """The tools as a round of the conversation `mine` calls them."""

    def __init__(self, root: Path, store: FileConversations) -> None:
        self.store = store
        self.held: Conversation = store.open("mine", create=True)
        self.road = CallHarness(root, *TOOLS)
        model = FakeModel(name="m", window=1000)
        settings = make_settings(reflection_character_limit=20)
        self.services = home_services("mine", store, store.inbox, model) | conversation_services(self.held, settings)

    def call(self, name: str, **args: object) -> Outcome:
        return self.road.call(name, args, self.road.scope(services=self.services))

    def text(self, name: str, **args: object) -> str:
        outcome = self.call(name, **args)
        assert outcome.ok, outcome
        return outcome.text

    def failure(self, name: str, **args: object) -> str:
        outcome = self.call(name, **args)
        assert not outcome.ok, outcome
        assert outcome.text.startswith("ERROR: ")
        return outcome.text


@pytest.fixture
def turn(tmp_path: Path) -> Iterator[Round]:
    root = tmp_path / "project"
    root.mkdir()
    made = Round(root, FileConversations(str(tmp_path / "home")))
    with made.held:
        yield made


def talk(turn: Round, name: str, count: int) -> None:
    with turn.store.open(name, create=True) as held:
        held.append(
            [
                Entry(entry_type=MESSAGE, content=f"{number}", sender="ann", to=name, role=USER)
                if number % 2
                else Entry(entry_type=MESSAGE, content=f"{number}", sender=name, to="ann", role=AGENT)
                for number in range(1, count + 1)
            ]
        )


@pytest.mark.parametrize("name", ["todos", "goals"])
def test_todos_and_goals_are_kept_for_the_conversation(name: str, turn: Round) -> None:
    assert turn.text(f"update_{name}", content="- [ ] été\n") == f"{name.capitalize()} updated: 10 characters"
    assert turn.store.read("mine").read_note(name).strip() == "- [ ] été"
    turn.text(f"update_{name}", content="")
    assert turn.store.read("mine").read_note(name) == ""
    assert "at most 100,000 are taken" in turn.failure(f"update_{name}", content="x" * (MAX_CHARACTERS + 1))


def test_a_reflection_is_kept_for_the_home_up_to_its_limit(turn: Round) -> None:
    turn.store.create("other")
    assert turn.text("update_reflection", content="likes tea") == "Reflection updated: 9 characters"
    assert turn.store.read("other").read_note("reflection") == "likes tea"
    assert "at most 20 characters, this one 21" in turn.failure("update_reflection", content="x" * 21)
    assert turn.store.read("other").read_note("reflection") == "likes tea"


def test_a_message_goes_into_an_inbox(turn: Round) -> None:
    assert turn.text("send_message", to="other", content="hi") == "Message sent to 'other'"
    turn.text("send_message", **{"to": "other", "content": "ho", "from": "boss"})
    assert [(one.sender, one.content) for one in turn.store.inbox.peek("other")] == [("mine", "hi"), ("boss", "ho")]


@pytest.mark.parametrize("to", ["", "../x", "system", "a/b", "a\0", "x" * 101])
def test_a_message_to_what_is_no_name_is_an_error(to: str, turn: Round, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert "cannot be the name of a conversation" in turn.failure("send_message", to=to, content="hi")
    assert "cannot be the name of a conversation" in turn.failure("read_conversation", context_name=to)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_message_that_is_empty_or_too_long_is_an_error(turn: Round) -> None:
    assert turn.failure("send_message", to="other", content=" \n") == "ERROR: content: is empty"
    assert "100,001 characters" in turn.failure("send_message", to="other", content="x" * (MAX_CHARACTERS + 1))
    assert turn.store.inbox.peek("other") == ()


def test_another_conversation_is_shown_as_json(turn: Round) -> None:
    talk(turn, "other", 7)
    with turn.store.open("other") as held:
        held.write_note("todos", "t")
    seen = json.loads(turn.text("read_conversation", context_name="other"))
    recent = seen.pop("recent_messages")
    assert seen == {"name": "other", "summary": "", "todos": "t", "goals": "", "message_count": 7}
    assert [one["content"] for one in recent] == ["3", "4", "5", "6", "7"]
    assert recent[-2:] == [
        {"from": "other", "content": "6", "type": "message"},
        {"from": "ann", "content": "7", "type": "message"},
    ]


@pytest.mark.parametrize("given", [{"num_messages": 2}, {"num_messages": "2", "include_messages": "true"}])
def test_numbers_and_booleans_may_come_as_texts(given: Mapping[str, object], turn: Round) -> None:
    talk(turn, "other", 3)
    seen = json.loads(turn.text("read_conversation", context_name="other", **given))
    assert [one["content"] for one in seen["recent_messages"]] == ["2", "3"]


@pytest.mark.parametrize("include", ["false", "False", False])
def test_messages_may_be_left_out(include: object, turn: Round) -> None:
    talk(turn, "other", 3)
    seen = json.loads(turn.text("read_conversation", context_name="other", include_messages=include))
    assert seen["message_count"] == 3
    assert "recent_messages" not in seen


def test_a_wrong_number_of_messages_or_name_is_an_error_and_makes_nothing(turn: Round) -> None:
    for number in (-1, MAX_MESSAGES + 1):
        words = f"num_messages: must be from 0 to 200, not {number}"
        assert words in turn.failure("read_conversation", context_name="mine", num_messages=number)
    assert "nobody" in turn.failure("read_conversation", context_name="nobody")
    assert [meta.name for meta in turn.store.list()] == ["mine"]


def test_what_is_known_of_a_model_is_json_without_what_is_not(turn: Round) -> None:
    known = json.loads(turn.text("model_info", model=" m "))
    assert known == {"id": "m", "provider": "fake", "context_window": 1000}
    assert "no model 'x'" in turn.failure("model_info", model="x")
    assert turn.failure("model_info", model="") == "ERROR: model: is empty"


class Known:
    """Knows everything of every model."""

    async def info(self, name: str) -> ModelInfo:
        more = {"id": "theirs", "description": "dé", "pricing": {"prompt": "0"}}
        return ModelInfo(id=name, provider="p", name="M", max_output=5, input_price=0.0, output_price=1.5, more=more)


def test_a_free_model_has_a_price_and_the_providers_own_words_follow_ours(turn: Round) -> None:
    turn.services[ModelLookup] = Known()
    text = turn.text("model_info", model="m")
    assert "dé" in text
    assert json.loads(text) == {
        "id": "m",
        "provider": "p",
        "name": "M",
        "max_output": 5,
        "input_price": 0.0,
        "output_price": 1.5,
        "description": "dé",
        "pricing": {"prompt": "0"},
    }


def test_the_word_is_handed_on(turn: Round) -> None:
    assert turn.text("call_user") == "The round ends here."
    assert "your message" in turn.text("call_user", message="done")
    assert "after your next words" in turn.text("call_agent", prompt="go on")
    assert turn.failure("call_agent", prompt="  ") == "ERROR: prompt: is empty"
    assert tool_schema(call_agent)["required"] == ["prompt"]


def test_a_caller_without_a_conversation_is_offered_none_and_can_call_none(tmp_path: Path) -> None:
    road = CallHarness(tmp_path, *TOOLS)
    assert road.offered(road.scope()) == []
    outcome = road.call("update_todos", {"content": "x"})
    assert outcome.text.startswith("ERROR: 'update_todos' is not available here: it works in a conversation")


def test_none_needs_a_question_and_all_stay_when_nothing_may_be_changed(turn: Round) -> None:
    assert {spec.effect for spec in TOOLS} == {Effect.META}
    scope = turn.road.scope(Policy(read_only=True), services=turn.services)
    assert turn.road.offered(scope) == list(TOOLS)
