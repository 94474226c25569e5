"""One round as a face asks for it."""

import json
import threading
from pathlib import Path

import anyio
import pytest

from fakes.model import FakeModel, answer
from fakes.rounds import called
from fakes.talking import Listener, desk, stored, talk
from marid.app.round_request import RoundRequest
from marid.app.rounds import run_round
from marid.core.conversation.records import ConversationLocked, InboxMessage
from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.core.events import Event, Notice
from marid.core.model_io import TextDelta
from marid.core.round_events import EntryStored, InboxInjected, RoundEvent
from marid.core.settings.values import ResolvedSettings, ToolSettings

FLAGS = {"model": "fake-model"}


def test_a_conversation_that_is_not_there_is_made(tmp_path: Path) -> None:
    heard = Listener()
    app = desk(tmp_path, FakeModel(answer("Hello."), answer("Again.")))
    assert talk(app, "hi there", heard, flags=FLAGS, face="rest").text == "Hello."
    assert heard.of(TextDelta) == [TextDelta("Hello.")]
    assert [what.entry.content[-8:] for what in heard.of(EntryStored)] == ["hi there", "Hello."]
    meta = app.stores(app.settings).conversations.get_meta("c")
    assert (meta.title, meta.provider, meta.model, meta.source) == ("hi there", "fake", "fake-model", "REST")
    assert talk(app, "more", flags=FLAGS, conversation=meta.id).text == "Again."
    assert app.stores(app.settings).conversations.get_meta("c").title == "hi there"


def test_a_title_is_short_and_on_one_line(tmp_path: Path) -> None:
    app = desk(tmp_path, FakeModel(answer("x")))
    talk(app, "word\n" * 30 + "\udcff", flags=FLAGS)
    assert app.stores(app.settings).conversations.get_meta("c").title == " ".join(["word"] * 10)
    app = desk(tmp_path, FakeModel(answer("x")))
    talk(app, "w" * 100, flags=FLAGS, conversation="d")
    assert app.stores(app.settings).conversations.get_meta("d").title == "w" * 57 + "..."


def test_the_prompt_that_was_sent_is_kept_with_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "home/prompts").mkdir(parents=True)
    (tmp_path / "home/prompts/chibi.md").write_text("You are a bird.")
    model = FakeModel(answer("x"))
    app = desk(tmp_path, model)
    (tmp_path / "project/AGENTS.md").write_text("Use tabs.")
    talk(app, "hi", flags=FLAGS)
    system = model.asked[0].system
    assert "You are a bird." in system
    assert "Use tabs." in system
    assert "30 of 30" in system
    known = json.loads((tmp_path / "home/contexts/c/context_meta.json").read_text())
    assert known["last_combined_prompt"] == system


def test_a_blank_prompt_and_a_name_that_is_none_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    app = desk(tmp_path, FakeModel())
    with pytest.raises(BadInput, match="blank"):
        talk(app, " \n", flags=FLAGS)
    with pytest.raises(BadInput, match="cannot be the name"):
        talk(app, "hi", flags=FLAGS, conversation="../c")
    assert not (tmp_path / "home/contexts").exists()


def test_there_is_nothing_to_resume_where_nothing_is(tmp_path: Path) -> None:
    app = desk(tmp_path, FakeModel(answer("Yes.")))
    with pytest.raises(NotFound):
        talk(app, flags=FLAGS)
    talk(app, "hi", flags=FLAGS)
    assert talk(app, flags=FLAGS).reason == "nothing"


def test_a_conversation_that_is_put_away_takes_nothing(tmp_path: Path) -> None:
    app = desk(tmp_path, FakeModel(answer("Yes.")))
    talk(app, "hi", flags=FLAGS)
    app.stores(app.settings).conversations.archive("c")
    with pytest.raises(Refused):
        talk(app, "again", flags=FLAGS)


def test_somebody_elses_conversation_is_waited_for_or_told_of(tmp_path: Path) -> None:
    app = desk(tmp_path, FakeModel(answer("Yes.")))
    held = app.stores(app.settings).conversations.open("c", create=True)
    with pytest.raises(ConversationLocked):
        talk(app, "hi", flags=FLAGS)
    threading.Timer(0.2, held.close).start()
    assert talk(app, "hi", flags=FLAGS, lock_timeout=20.0).text == "Yes."


def test_everything_is_given_back_whatever_happens(tmp_path: Path) -> None:
    app = desk(tmp_path, FakeModel(Unavailable("down"), answer("Yes.")))
    with pytest.raises(Unavailable, match="down"):
        talk(app, "hi", flags=FLAGS)
    assert app.stores(app.settings).conversations.holder("c") is None
    assert talk(app, flags=FLAGS).text == "Yes."


def test_what_a_person_should_know_is_told_first(tmp_path: Path) -> None:
    heard = Listener()
    app = desk(tmp_path, FakeModel(answer("Yes.")))
    resolve = app.resolve

    def noting(name: str, flags: object) -> ResolvedSettings:
        found = resolve(name, FLAGS)
        settings = found.settings._replace(tools=ToolSettings(selection={"exclude": ("no_such",)}))
        return found._replace(settings=settings, notes=("look at line 3",))

    talk(app._replace(resolve=noting, project="/"), "hi", heard)
    texts = [note.text for note in heard.of(Notice)]
    assert texts[0] == "look at line 3"
    assert "no project" in texts[1]
    assert "no_such" in texts[2]


def test_a_working_directory_of_no_project_offers_nothing_to_touch(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a").write_text("secret")
    model = FakeModel(answer(called("read_file", '{"path": "a"}')), answer("Yes."))
    app = desk(tmp_path, model)._replace(project="/")
    talk(app, "hi", flags=FLAGS)
    assert [entry.status for entry in stored(app) if entry.entry_type == "tool_result"] == ["failed"]


def test_no_tool_calls_is_effective(tmp_path: Path) -> None:
    model = FakeModel(answer(called("read_file", '{"path": "a"}')), answer("Yes."))
    app = desk(tmp_path, model)
    talk(app, "hi", flags={**FLAGS, "no_tool_calls": True})
    assert model.asked[0].tools == ()
    (failed,) = [entry.content for entry in stored(app) if entry.entry_type == "tool_result"]
    assert "no tool is called 'read_file'" in failed


def test_messages_of_other_conversations_come_first(tmp_path: Path) -> None:
    heard = Listener()
    model = FakeModel(answer("Yes."))
    app = desk(tmp_path, model)
    app.stores(app.settings).inbox.send(InboxMessage("d", "c", "Look out!"))
    talk(app, "hi", heard, flags=FLAGS)
    assert "[From: d] Look out!" in model.asked[0].messages[0].text
    assert heard.of(InboxInjected) == [InboxInjected(1)]
    assert app.stores(app.settings).inbox.peek("c") == ()


class Slow(FakeModel):
    """Takes long to get ready, and fails at it."""

    def __init__(self) -> None:
        super().__init__(answer("Yes."))
        self.warmed = threading.Event()

    def warm(self) -> None:
        self.warmed.set()
        raise ImportError("no library")


def test_what_takes_long_gets_ready_meanwhile(tmp_path: Path) -> None:
    model = Slow()
    assert talk(desk(tmp_path, model), "hi", flags=FLAGS).text == "Yes."
    assert model.warmed.is_set()


class Late(FakeModel):
    """Gets ready after its answer."""

    def __init__(self) -> None:
        super().__init__(answer("Yes."))
        self.answered = threading.Event()
        self.warmed = threading.Event()

    def warm(self) -> None:
        self.answered.wait(5)
        threading.Event().wait(0.05)
        self.warmed.set()


def test_a_round_that_is_over_waits_for_what_it_made_ready(tmp_path: Path) -> None:
    model = Late()

    async def heard(event: Event[RoundEvent]) -> None:
        model.answered.set()

    app = desk(tmp_path, model)
    anyio.run(run_round, app, RoundRequest(prompt="hi", conversation="c", flags=FLAGS), heard)
    assert model.warmed.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name == "marid warm"]


@pytest.mark.parametrize(("face", "source"), [("cli", "CLI"), ("json", "CLI"), ("mcp", "MCP"), ("python", "PYTHON")])
def test_a_conversation_knows_by_which_way_it_came_to_be(tmp_path: Path, face: str, source: str) -> None:
    app = desk(tmp_path, FakeModel(answer("Yes.")))
    talk(app, "hi", flags=FLAGS, face=face)
    assert app.stores(app.settings).conversations.get_meta("c").source == source


def test_what_the_program_itself_says_is_no_question(tmp_path: Path) -> None:
    model = FakeModel(answer("Yes."))
    app = desk(tmp_path, model)
    app.stores(app.settings).inbox.send(InboxMessage("d", "c", "Look out!"))
    talk(app, "[Messages have arrived.]", flags=FLAGS, automatic=True)
    assert model.asked[0].messages[0].user_text == "Look out!"


def test_cancelling_before_the_conversation_is_free_leaves_it_alone(tmp_path: Path) -> None:
    app = desk(tmp_path, FakeModel())
    held = app.stores(app.settings).conversations.open("c", create=True)

    async def main() -> bool:
        with anyio.move_on_after(0.2) as scope:
            await run_round(
                app, RoundRequest(prompt="hi", conversation="c", flags=FLAGS, lock_timeout=60.0), Listener()
            )
        return scope.cancelled_caught

    assert anyio.run(main)
    held.close()
    assert stored(app) == []
