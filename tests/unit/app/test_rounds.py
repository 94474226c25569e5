"""One round as a face asks for it."""

import json
import threading
from pathlib import Path

import anyio
import pytest

from fakes.model import FakeModel, answer
from fakes.real_app import RoundRecorder, real_scope, run_prompt, stored_entries
from fakes.rounds import tool_call
from marid.app.rounds import RoundRequest, run_round
from marid.core.caller import Caller
from marid.core.conversation.records import InboxMessage
from marid.core.errors import NotFound, Unavailable
from marid.core.events import Notice
from marid.core.model_io import TextDelta
from marid.core.round_events import EntryStored
from marid.core.settings.values import ResolvedSettings, ToolSettings

FLAGS = {"model": "fake-model"}


def test_a_conversation_that_is_not_there_is_made(tmp_path: Path) -> None:
    heard = RoundRecorder()
    scope = real_scope(tmp_path, FakeModel(answer("Hello."), answer("Again.")))
    assert run_prompt(scope, "hi there", heard, flags=FLAGS, caller=Caller(face="rest")).text == "Hello."
    assert heard.of(TextDelta) == [TextDelta("Hello.")]
    assert [what.entry.content[-8:] for what in heard.of(EntryStored)] == ["hi there", "Hello."]
    meta = scope.stores.conversations.get_meta("c")
    assert (meta.title, meta.provider, meta.model, meta.source) == ("hi there", "fake", "fake-model", "REST")
    assert run_prompt(scope, "more", flags=FLAGS, conversation=meta.id).text == "Again."
    assert scope.stores.conversations.get_meta("c").title == "hi there"


def test_a_title_is_short_and_on_one_line(tmp_path: Path) -> None:
    scope = real_scope(tmp_path, FakeModel(answer("x")))
    run_prompt(scope, "word\n" * 30 + "\udcff", flags=FLAGS)
    assert scope.stores.conversations.get_meta("c").title == " ".join(["word"] * 10)
    scope = real_scope(tmp_path, FakeModel(answer("x")))
    run_prompt(scope, "w" * 100, flags=FLAGS, conversation="d")
    assert scope.stores.conversations.get_meta("d").title == "w" * 57 + "..."


def test_the_prompt_that_was_sent_is_kept_with_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "home/prompts").mkdir(parents=True)
    (tmp_path / "home/prompts/chibi.md").write_text("You are a bird.")
    model = FakeModel(answer("x"))
    scope = real_scope(tmp_path, model)
    (tmp_path / "project/AGENTS.md").write_text("Use tabs.")
    run_prompt(scope, "hi", flags=FLAGS)
    system = model.asked[0].system
    assert "You are a bird." in system
    assert "Use tabs." in system
    assert "30 of 30" in system
    known = json.loads((tmp_path / "home/contexts/c/context_meta.json").read_text())
    assert known["last_combined_prompt"] == system


def test_there_is_nothing_to_resume_where_nothing_is(tmp_path: Path) -> None:
    scope = real_scope(tmp_path, FakeModel(answer("Yes.")))
    with pytest.raises(NotFound):
        run_prompt(scope, flags=FLAGS)
    run_prompt(scope, "hi", flags=FLAGS)
    assert run_prompt(scope, flags=FLAGS).reason == "nothing"


def test_everything_is_given_back_whatever_happens(tmp_path: Path) -> None:
    scope = real_scope(tmp_path, FakeModel(Unavailable("down"), answer("Yes.")))
    with pytest.raises(Unavailable, match="down"):
        run_prompt(scope, "hi", flags=FLAGS)
    assert scope.stores.conversations.holder("c") is None
    assert run_prompt(scope, flags=FLAGS).text == "Yes."


def test_what_a_person_should_know_is_told_first(tmp_path: Path) -> None:
    heard = RoundRecorder()
    scope = real_scope(tmp_path, FakeModel(answer("Yes.")))
    resolve = scope.app.resolve_settings

    def noting(project: str, name: str, flags: object) -> ResolvedSettings:
        found = resolve(project, name, FLAGS)
        settings = found.settings._replace(tools=ToolSettings(selection={"exclude": ("no_such",)}))
        return found._replace(settings=settings, notes=("look at line 3",))

    run_prompt(scope._replace(app=scope.app._replace(resolve_settings=noting), project="/"), "hi", heard)
    texts = [note.text for note in heard.of(Notice)]
    assert texts[0] == "look at line 3"
    assert "not inside a project" in texts[1]
    assert "no_such" in texts[2]


def test_a_working_directory_of_no_project_offers_nothing_to_touch(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a").write_text("secret")
    model = FakeModel(answer(tool_call("read_file", '{"path": "a"}')), answer("Yes."))
    scope = real_scope(tmp_path, model)._replace(project="/")
    run_prompt(scope, "hi", flags=FLAGS)
    assert [entry.status for entry in stored_entries(scope) if entry.entry_type == "tool_result"] == ["failed"]

    assert not [thread for thread in threading.enumerate() if thread.name == "marid warm"]


@pytest.mark.parametrize(("face", "source"), [("cli", "CLI"), ("json", "CLI"), ("mcp", "MCP"), ("python", "PYTHON")])
def test_a_conversation_knows_by_which_way_it_came_to_be(tmp_path: Path, face: str, source: str) -> None:
    scope = real_scope(tmp_path, FakeModel(answer("Yes.")))
    run_prompt(scope, "hi", flags=FLAGS, caller=Caller(face=face))
    assert scope.stores.conversations.get_meta("c").source == source


def test_what_the_program_itself_says_is_no_question(tmp_path: Path) -> None:
    model = FakeModel(answer("Yes."))
    scope = real_scope(tmp_path, model)
    scope.stores.inbox.send(InboxMessage("d", "c", "Look out!"))
    run_prompt(scope, "[Messages have arrived.]", flags=FLAGS, automatic=True)
    assert model.asked[0].messages[0].user_text == "Look out!"


def test_cancelling_before_the_conversation_is_free_leaves_it_alone(tmp_path: Path) -> None:
    scope = real_scope(tmp_path, FakeModel())
    held = scope.stores.conversations.open("c", create=True)

    async def main() -> bool:
        request = RoundRequest(prompt="hi", conversation="c", lock_timeout=60.0)
        with anyio.move_on_after(0.2) as waiting:
            await run_round(scope.within("c", FLAGS), request, RoundRecorder())
        return waiting.cancelled_caught

    assert anyio.run(main)
    held.close()
    assert stored_entries(scope) == []
