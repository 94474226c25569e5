import os
from pathlib import Path

import pytest

from fakes.program import Program
from fakes.real_app import add_messages, real_scope
from fakes.terminal import TerminalSession
from marid.app import conversations
from marid.app.app import RequestScope
from marid.core.conversation.records import Expiry, SweepResult
from marid.core.errors import BadInput, NotFound, Refused, Unavailable
from marid.faces.cli.operations import conversation_actions, conversation_properties
from marid.ports.conversations import ConversationStores


@pytest.fixture
def scope(tmp_path: Path) -> RequestScope:
    return real_scope(tmp_path)


def told(capfd: pytest.CaptureFixture[str]) -> str:
    captured = capfd.readouterr()
    assert captured.out == ""
    return captured.err


def test_a_home_that_is_not_there_is_not_made_by_looking(scope: RequestScope) -> None:
    conversation_actions.sweep(scope)
    assert conversation_actions.resolve_name(scope, "") == "default"
    assert not os.path.exists(scope.home)


def test_conversations_whose_time_has_come_go_first(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "old", "x")
    conversations.expire(scope, "old", at=1)
    conversation_actions.sweep(scope, verbose=True)
    assert told(capfd) == "marid: deleted expired conversations: old\n"
    assert conversations.conversation_names(scope) == ()


def test_a_home_that_cannot_be_written_can_be_read(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "a", "x")

    class Full:
        """A disk on which nothing can be changed."""

        def expiry(self, key: str) -> Expiry:
            return Expiry()

        def set_expiry(self, key: str, expiry: Expiry) -> None:
            self.sweep()

        def sweep(self) -> SweepResult:
            raise Unavailable("no room")

    def stores() -> ConversationStores:
        return scope.stores._replace(lifetimes=Full())

    broken = scope._replace(app=scope.app._replace(stores=stores))
    conversation_actions.sweep(broken)
    assert told(capfd) == ""
    conversation_actions.sweep(broken, verbose=True)
    assert "no room" in told(capfd)


def test_a_name_may_be_new_only_where_one_can_begin(scope: RequestScope) -> None:
    conversations.check_selector("new", allow_new=True)
    for word in ("new", "new:x"):
        with pytest.raises(BadInput):
            conversations.check_selector(word)
        with pytest.raises(BadInput):
            conversation_actions.resolve_name(scope, word)
    assert conversations.conversation_names(scope) == ()


def test_the_current_one_can_be_renamed_and_given_up_before_it_is_used(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    conversations.resolve_name(scope, "slip", switch=True)
    assert conversation_actions.rename(scope, "slip", "right") == "right"
    conversation_actions.destroy(scope, "right")
    assert told(capfd).splitlines() == [
        "marid: renamed 'slip' to 'right'",
        "marid: 'right' was never used; 'default' is the current conversation",
    ]
    with pytest.raises(NotFound):
        conversation_actions.destroy(scope, "default")


def test_a_state_that_was_put_aside_is_told(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "a", "x")
    Path(scope.home, "state.json").write_text("{bad")
    conversation_actions.sweep(scope)
    assert "was damaged" in told(capfd)


def test_renaming_clearing_archiving(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "a", "x")
    assert conversation_actions.rename(scope, "a", "b") == "b"
    conversation_actions.clear(scope, "b")
    conversation_actions.clear(scope, "b")
    conversation_actions.set_archived(scope, "b", archived=True)
    conversation_actions.set_archived(scope, "b", archived=False)
    assert told(capfd).splitlines() == [
        "marid: renamed 'a' to 'b'",
        "marid: archived the history of 'b'",
        "marid: 'b' has no history to archive",
        "marid: archived 'b': it takes no new messages",
        "marid: restored 'b'",
    ]


def test_without_a_terminal_nothing_is_destroyed_unless_that_was_said(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    add_messages(scope, "a", "x")
    with pytest.raises(Refused, match="--yes was not given"):
        conversation_actions.destroy(scope, "a")
    assert conversations.conversation_names(scope) == ("a",)
    conversation_actions.destroy(scope, "a", yes=True)
    with pytest.raises(NotFound, match="there is no conversation 'a'"):
        conversation_actions.destroy(scope, "a", yes=True)
    assert told(capfd) == "marid: deleted 'a'; 'default' is the current conversation\n"


@pytest.mark.parametrize(("answer", "code", "left"), [("y", 0, []), ("", 3, ["a"]), ("no", 3, ["a"])])
def test_on_a_terminal_the_person_is_asked(marid: Program, answer: str, code: int, left: list[str]) -> None:
    home = Path(os.environ["MARID_HOME"])
    marid("conversations", "expire", "a", "--at", "0")
    with TerminalSession("-D", "a") as person:
        person.wait_for("[y/N] ")
        person.type(f"{answer}\r")
        assert person.wait_exit() == code
    assert sorted(os.listdir(home / "contexts")) == left


def test_an_end_is_set_and_told(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    conversation_actions.expire(scope, "a", at="2000000000", after="60")
    conversation_actions.expire(scope, "a", at="0", after="0")
    assert told(capfd).splitlines() == [
        "marid: 'a' will be deleted at 2000000000 or after 60 s without use",
        "marid: 'a' does not expire",
    ]
    for wrong in ("soon", "-5"):
        with pytest.raises(BadInput, match="not a number of seconds"):
            conversation_actions.expire(scope, "a", at=wrong)


def test_settings_of_a_conversation_are_written_down(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    conversation_properties.set_model(scope, "a", "offline:offline")
    conversation_properties.set_username(scope, "a", "ann")
    conversation_properties.set_system_prompt(scope, "a", "Be brief.")
    conversation_properties.set_system_prompt(scope, "a", "")
    conversation_properties.set_values(scope, "a", {"fuel": "5"})
    settings = scope.within("a").resolve().settings
    own = settings.conversation
    assert (settings.model.provider, own.username, own.fuel) == ("offline", "ann", 5)
    conversation_properties.set_values(scope, "a", {"fuel": None})
    assert scope.within("a").resolve().settings.conversation.fuel == 30
    conversation_properties.set_values(scope, "a", {"api_key": "sk-secret"})
    assert told(capfd).splitlines() == [
        "marid: 'a' uses offline:offline",
        "marid: your name in 'a' is 'ann'",
        "marid: 'a' has its own system prompt",
        "marid: 'a' has the default system prompt",
        "marid: fuel is 5 in 'a'",
        "marid: fuel is the default in 'a'",
        "marid: api_key is set in 'a'",
    ]


def test_only_the_current_one_may_be_unused(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    assert not conversation_actions.exists_or_notify(scope, "a", unused="a")
    assert told(capfd) == "marid: 'a' has no entries yet\n"
    with pytest.raises(NotFound):
        conversation_actions.exists_or_notify(scope, "b", unused="a")
    add_messages(scope, "a", "x")
    assert conversation_actions.exists_or_notify(scope, "a", unused="a")
