from functools import partial
from pathlib import Path

import anyio
import pytest

from marid.app.app import App
from marid.app.tool_access import ToolAccess
from marid.app.tool_calls import ToolCallRequest, call_tool
from marid.bootstrap.wiring import build
from marid.core.conversation.records import ConversationLocked
from marid.core.errors import BadInput
from marid.core.policy.policy import Effect
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput


@pytest.fixture
def app(tmp_path: Path) -> App:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("x\n")
    place = str(tmp_path / "project")
    return build(cwd=place, project=place, home=str(tmp_path / "home"), environ={"HOME": str(tmp_path)})


def called(app: App, tool: str, conversation: str = "here", reach: ToolAccess | None = None, **args: object) -> Outcome:
    calling = ToolCallRequest(tool=tool, conversation=conversation, args=args, access=reach or ToolAccess())
    return anyio.run(partial(call_tool, app, calling))


def test_a_tool_that_only_looks_makes_no_conversation(app: App, tmp_path: Path) -> None:
    outcome = called(app, "get_tree", path=".")
    assert isinstance(outcome, ToolOutput)
    assert "a.txt" in outcome.text
    assert not (tmp_path / "home" / "contexts").exists()


def test_a_tool_that_keeps_something_makes_the_conversation(app: App) -> None:
    assert called(app, "update_goals", content="win").ok
    assert app.stores(app.settings).conversations.read("here").read_note("goals") == "win"


def test_a_message_is_from_the_conversation_it_was_sent_in(app: App) -> None:
    assert called(app, "send_message", to="there", content="hi").ok
    [message] = app.stores(app.settings).inbox.peek("there")
    assert (message.sender, message.content) == ("here", "hi")


def test_a_message_to_what_can_be_no_name_is_refused_before_anything_is_made(app: App, tmp_path: Path) -> None:
    outcome = called(app, "send_message", to="../x", content="hi")
    assert isinstance(outcome, ToolFailure)
    assert outcome.code == "bad_input"
    assert not (tmp_path / "home" / "contexts").exists()


def test_a_message_needs_nobody_to_let_go_of_the_conversation(app: App) -> None:
    with app.stores(app.settings).conversations.open("here", create=True):
        assert called(app, "send_message", to="there", content="hi").ok
        assert called(app, "read_conversation", context_name="here").ok


def test_a_conversation_that_somebody_holds_is_not_written(app: App) -> None:
    store = app.stores(app.settings).conversations
    with store.open("here", create=True):
        with pytest.raises(ConversationLocked):
            called(app, "update_todos", content="x")
        assert called(app, "get_tree", path=".").ok
    assert called(app, "update_todos", content="x").ok


def test_outside_of_a_round_the_word_cannot_be_handed_on(app: App) -> None:
    outcome = called(app, "call_user", message="hi")
    assert isinstance(outcome, ToolFailure)
    assert outcome.code == "not_found"


def test_a_tool_that_there_is_not_is_a_failure(app: App) -> None:
    outcome = called(app, "nonsense")
    assert isinstance(outcome, ToolFailure)
    assert outcome.code == "not_found"


def test_the_settings_of_the_conversation_count(app: App, tmp_path: Path) -> None:
    app.stores(app.settings).conversations.create("free")
    (tmp_path / "home" / "contexts" / "free" / "local.toml").write_text('[policy]\nwrite = "allow"\n')
    assert not called(app, "write_file", path="b.txt", content="x").ok
    assert called(app, "write_file", "free", path="b.txt", content="x").ok
    assert called(app, "write_file", reach=ToolAccess(allow=frozenset({Effect.WRITE})), path="c.txt", content="x").ok


def test_a_name_that_is_none_is_refused(app: App, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        called(app, "update_todos", "../x", content="x")
    assert not (tmp_path / "home").exists()
