from pathlib import Path

import anyio
import pytest

from fakes.model import FakeModel, answer
from fakes.rounds import look, poke, tool_call
from marid.adapters.store.conversations import open_stores
from marid.app.tool_session import ToolSession
from marid.bootstrap.wiring import open_request
from marid.core.caller import Caller
from marid.core.conversation.entry import TO_USER
from marid.core.errors import NotFound
from marid.core.events import Event
from marid.core.policy.policy import Policy
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import Settings
from marid.engine.round_entries import RoundPrompt
from marid.engine.round_factory import RoundFactory, RoundSetup
from marid.engine.system_prompt import PromptTexts
from marid.toolkit.call_scope import CallScope
from marid.toolkit.event_stream import AsyncEventStream
from marid.toolkit.inventory import Inventory
from marid.toolkit.spec import ToolSpec
from marid.toolkit.thread_pool import DaemonThreadPool
from marid.workspace.guard.api import PathScope


class Rounds:
    """A factory, and what its listeners heard."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self.home = open_stores(str(place / "home"))
        self.heard: list[Event[RoundEvent]] = []
        self._toolbox = open_request(cwd=str(place), home=str(place / "home"), environ={}).app.toolbox()

    def run(self, model: FakeModel, prompt: str, *tools: ToolSpec) -> RoundEnd:
        """One round in the conversation `talk`; without a prompt the last one is continued."""

        def open_tools(conversation_id: str) -> ToolSession:
            call_scope = CallScope(
                caller=Caller(face="test", conversation=conversation_id),
                policy=Policy(),
                path_scope=PathScope([str(self._place)]),
                services={},
            )
            return ToolSession(
                Inventory(tools), call_scope, lambda inventory: self._toolbox.make_dispatcher(Settings(), inventory)
            )

        async def listen(event: Event[RoundEvent]) -> None:
            self.heard.append(event)

        factory = RoundFactory(stores=self.home, threads=DaemonThreadPool())
        setup = RoundSetup(
            conversation="talk",
            prompt=RoundPrompt(prompt, "ann") if prompt else None,
            settings=Settings(),
            model=model,
            model_name="fake-model",
            fallback_tool=TO_USER,
            open_tools=open_tools,
            load_prompts=lambda: PromptTexts("Use tabs.", "You are a bird."),
        )

        def prepare(name: str) -> RoundSetup:
            assert name == "talk"
            return setup

        return anyio.run(factory.run, "talk", prepare, AsyncEventStream(Caller(face="test"), listen, "r1"))


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    return Rounds(tmp_path)


def test_a_round_has_the_texts_of_people_and_the_caller_of_its_conversation(rounds: Rounds) -> None:
    model = FakeModel(answer("Yes."))
    assert rounds.run(model, "hi", look).text == "Yes."
    assert "You are a bird." in model.asked[0].system
    assert "Use tabs." in model.asked[0].system
    assert rounds.heard[-1].caller == Caller(face="test", conversation=rounds.home.conversations.get_meta("talk").id)


def test_a_narrower_scope_offers_fewer_tools(rounds: Rounds) -> None:
    model = FakeModel(answer(tool_call("poke")), answer("Done."), answer("Yes."))
    rounds.run(model, "hi", look, poke)
    rounds.run(model, "again", look)
    offered = [[tool.name for tool in asked.tools] for asked in model.asked]
    assert offered == [["look", "poke"], ["look", "poke"], ["look"]]


def test_a_round_that_never_began_cannot_be_continued(rounds: Rounds) -> None:
    with pytest.raises(NotFound):
        rounds.run(FakeModel(), "")
