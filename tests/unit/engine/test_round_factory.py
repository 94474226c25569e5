"""How a round is put together and begun."""

from pathlib import Path

import anyio
import pytest

from fakes.events import emit_into
from fakes.model import FakeModel, answer
from fakes.rounds import look, poke, tool_call
from marid.adapters.store.conversations import FileConversations, open_stores
from marid.app.tool_session import ToolSession
from marid.bootstrap.wiring import open_request
from marid.core.caller import Caller
from marid.core.conversation.entry import INTERRUPTED, MESSAGE, TO_USER, TOOL_CALL, Entry
from marid.core.conversation.records import InboxMessage
from marid.core.errors import NotFound
from marid.core.events import Event, Notice
from marid.core.policy.policy import Policy
from marid.core.round_events import InboxInjected, RoundEnd, RoundEvent
from marid.core.settings.values import Settings
from marid.engine.async_conversation import AsyncConversation
from marid.engine.round_entries import RoundPrompt, RoundStamp, prompt_entry
from marid.engine.round_factory import RoundFactory, RoundSetup, last_round_id, start_round
from marid.engine.system_prompt import PromptTexts
from marid.engine.turns import parse_turns
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


STAMP = RoundStamp("talk", "r2")
PROMPT = RoundPrompt("hi", "user")


@pytest.fixture
def home(tmp_path: Path) -> FileConversations:
    return FileConversations(str(tmp_path))


def begun(
    home: FileConversations, *before: Entry, prompt: RoundPrompt = PROMPT
) -> tuple[list[Entry], list[RoundEvent]]:
    heard: list[RoundEvent] = []
    held = home.open("talk", create=True)
    if before:
        held.append(before)

    async def main() -> None:
        await start_round(AsyncConversation(held, emit_into(heard), DaemonThreadPool()), home.inbox, STAMP, prompt)

    anyio.run(main)
    entries = list(held.entries())[1:]
    held.close()
    return entries, heard


def test_messages_leave_the_inbox_once_the_prompt_that_holds_them_is_stored(home: FileConversations) -> None:
    home.inbox.send(InboxMessage("bob", "talk", "one"))
    entries, heard = begun(home)
    assert "[From: bob] one" in entries[0].content
    assert home.inbox.peek("talk") == ()
    assert heard[-1] == InboxInjected(1)


def test_messages_whose_prompt_was_stored_before_a_crash_are_only_taken_out(home: FileConversations) -> None:
    sent = home.inbox.send(InboxMessage("bob", "talk", "one"))
    entries, heard = begun(home, prompt_entry(RoundPrompt("x", "user"), [sent], STAMP, 0.0))
    assert "bob" not in entries[-1].content
    assert home.inbox.peek("talk") == ()
    assert InboxInjected not in [type(what) for what in heard]


def test_a_prompt_about_messages_is_not_said_when_all_of_them_are_known(home: FileConversations) -> None:
    sent = home.inbox.send(InboxMessage("bob", "talk", "one"))
    stored = prompt_entry(RoundPrompt("x", "user"), [sent], STAMP, 0.0)
    entries, heard = begun(home, stored, prompt=RoundPrompt("[Read them.]", "user", automatic=True))
    assert len(entries) == 1
    assert [type(what) for what in heard] == []
    assert home.inbox.peek("talk") == ()


def test_what_is_wrong_with_an_inbox_is_told(home: FileConversations) -> None:
    home.create("talk")
    (Path(home.settings_folder("talk")) / "inbox.jsonl").write_text("it is strange\n")
    _, heard = begun(home)
    assert [what for what in heard if isinstance(what, Notice) and "inbox.jsonl" in what.text]


def test_a_new_prompt_closes_the_calls_that_an_earlier_round_left_open(home: FileConversations) -> None:
    call = Entry(entry_type=TOOL_CALL, content="{}", to="poke", tool_call_id="1", round="r1")
    entries, _ = begun(home, call)
    _, closed, prompt = entries
    assert (closed.status, closed.tool_call_id, closed.round) == (INTERRUPTED, "1", "r1")
    assert "interrupted" in closed.content
    assert prompt.metadata == {"prompt": "hi"}


def test_a_round_goes_on_under_its_own_name() -> None:
    said = Entry(entry_type=MESSAGE, role="user", round="r1")
    call = Entry(entry_type=TOOL_CALL, to="poke", round="r2")
    assert last_round_id(parse_turns([said])) == "r1"
    assert last_round_id(parse_turns([said, call])) == "r2"
    assert last_round_id(()) == ""
