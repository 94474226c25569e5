from functools import partial
from pathlib import Path

import anyio
import pytest

from marid.app.app import RequestScope
from marid.app.tool_calls import ToolCallRequest, call_tool
from marid.app.tool_session import ToolAccess
from marid.bootstrap.wiring import open_request
from marid.core.conversation.records import ConversationLocked
from marid.core.errors import BadInput
from marid.core.policy.policy import Effect
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput


@pytest.fixture
def scope(tmp_path: Path) -> RequestScope:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("x\n")
    place = str(tmp_path / "project")
    return open_request(cwd=place, project=place, home=str(tmp_path / "home"), environ={"HOME": str(tmp_path)})


def called(
    scope: RequestScope, tool: str, conversation: str = "here", reach: ToolAccess | None = None, **args: object
) -> Outcome:
    calling = ToolCallRequest(tool=tool, conversation=conversation, args=args, access=reach or ToolAccess())
    return anyio.run(partial(call_tool, scope, calling))


def test_a_tool_that_only_looks_makes_no_conversation(scope: RequestScope, tmp_path: Path) -> None:
    outcome = called(scope, "get_tree", path=".")
    assert isinstance(outcome, ToolOutput)
    assert "a.txt" in outcome.text
    assert not (tmp_path / "home" / "contexts").exists()


def test_a_tool_that_keeps_something_makes_the_conversation(scope: RequestScope) -> None:
    assert called(scope, "update_goals", content="win").ok
    assert scope.stores.conversations.read("here").read_note("goals") == "win"


def test_a_message_is_from_the_conversation_it_was_sent_in(scope: RequestScope) -> None:
    assert called(scope, "send_message", to="there", content="hi").ok
    [message] = scope.stores.inbox.peek("there")
    assert (message.sender, message.content) == ("here", "hi")


def test_a_message_to_what_can_be_no_name_is_refused_before_anything_is_made(
    scope: RequestScope, tmp_path: Path
) -> None:
    outcome = called(scope, "send_message", to="../x", content="hi")
    assert isinstance(outcome, ToolFailure)
    assert outcome.code == "bad_input"
    assert not (tmp_path / "home" / "contexts").exists()


def test_a_message_needs_nobody_to_let_go_of_the_conversation(scope: RequestScope) -> None:
    with scope.stores.conversations.open("here", create=True):
        assert called(scope, "send_message", to="there", content="hi").ok
        assert called(scope, "read_conversation", context_name="here").ok


def test_a_conversation_that_somebody_holds_is_not_written(scope: RequestScope) -> None:
    store = scope.stores.conversations
    with store.open("here", create=True):
        with pytest.raises(ConversationLocked):
            called(scope, "update_todos", content="x")
        assert called(scope, "get_tree", path=".").ok
    assert called(scope, "update_todos", content="x").ok


def test_outside_of_a_round_the_word_cannot_be_handed_on(scope: RequestScope) -> None:
    outcome = called(scope, "call_user", message="hi")
    assert isinstance(outcome, ToolFailure)
    assert outcome.code == "not_found"


def test_a_tool_that_there_is_not_is_a_failure(scope: RequestScope) -> None:
    outcome = called(scope, "nonsense")
    assert isinstance(outcome, ToolFailure)
    assert outcome.code == "not_found"


def test_the_settings_of_the_conversation_count(scope: RequestScope, tmp_path: Path) -> None:
    scope.stores.conversations.create("free")
    (tmp_path / "home" / "contexts" / "free" / "local.toml").write_text('[policy]\nwrite = "allow"\n')
    assert not called(scope, "write_file", path="b.txt", content="x").ok
    assert called(scope, "write_file", "free", path="b.txt", content="x").ok
    assert called(scope, "write_file", reach=ToolAccess(allow=frozenset({Effect.WRITE})), path="c.txt", content="x").ok


def test_a_name_that_is_none_is_refused(scope: RequestScope, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        called(scope, "update_todos", "../x", content="x")
    assert not (tmp_path / "home").exists()
