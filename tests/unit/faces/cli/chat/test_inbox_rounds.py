"""Conversations answer what others have sent them."""

import os
import signal
from pathlib import Path

import pytest

from fakes.apps import PlayedRound
from fakes.program import lasting_signals
from marid.app.app import RequestScope
from marid.app.rounds import RoundRequest
from marid.bootstrap.wiring import open_request
from marid.core.conversation.records import InboxMessage
from marid.core.errors import Refused, Unavailable
from marid.core.model_io import TextDelta
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.chat.chat_round import ChatRequest
from marid.faces.cli.chat.inbox_rounds import check_inboxes

HOW = ChatRequest(conversation="")


def empty(place: Path) -> RequestScope:
    return open_request(cwd=str(place), home=str(place / "home"), environ={})


@pytest.fixture
def scope(tmp_path: Path) -> RequestScope:
    """`one` and `two` have messages, `three` has none."""
    scope = empty(tmp_path)
    memory = scope.stores
    for name in ("one", "two", "three"):
        memory.conversations.create(name)
    for name in ("one", "two"):
        memory.inbox.send(InboxMessage(sender="three", to=name, content="Act!"))
    return scope


def test_every_conversation_with_messages_gets_its_round(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    played = PlayedRound(TextDelta("Done."))
    assert check_inboxes(scope, None, HOW, runner=played) == 0
    assert [saying.conversation for saying in played.said] == ["one", "two"]
    told = "marid: 'one' answers what it was sent\nmarid: 'two' answers what it was sent\n"
    assert capfd.readouterr() == ("Done.\nDone.\n", told)


def test_one_that_was_named_alone_need_not_be_told(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    assert check_inboxes(scope, ["one"], HOW, runner=PlayedRound(TextDelta("Done."))) == 0
    assert capfd.readouterr() == ("Done.\n", "")


def test_one_that_was_put_away_is_not_tried_unless_it_is_named(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    scope.stores.conversations.archive("one")
    played = PlayedRound(TextDelta("Done."))
    assert check_inboxes(scope, None, HOW, runner=played) == 0
    assert [saying.conversation for saying in played.said] == ["two"]
    check_inboxes(scope, ["one"], HOW, runner=played)
    assert played.said[-1].conversation == "one"


def test_of_those_that_are_named_an_empty_one_is_told(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    played = PlayedRound(TextDelta("Done."))
    assert check_inboxes(scope, ["three", "two", "two"], HOW, runner=played) == 0
    assert [saying.conversation for saying in played.said] == ["two"]
    assert capfd.readouterr().err == "marid: nothing waits for 'three'\nmarid: 'two' answers what it was sent\n"


def test_where_nothing_waits_at_all_it_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert check_inboxes(empty(tmp_path), None, HOW, runner=PlayedRound()) == 0
    assert capfd.readouterr() == ("", "marid: nothing waits in any inbox\n")


def test_one_that_fails_is_told_and_the_others_go_on(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    played = PlayedRound(end=Unavailable("somebody else holds it"))
    assert check_inboxes(scope, None, HOW, runner=played) == 6
    assert len(played.said) == 2
    assert capfd.readouterr().err.count("somebody else holds it; its messages wait") == 2


def test_the_first_failure_is_the_exit_code_and_a_round_that_broke_off_can_go_on(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    async def broken(scope: RequestScope, saying: RoundRequest, emit: object, asker: object) -> None:
        inbox = scope.stores.inbox
        inbox.remove(saying.conversation, inbox.peek(saying.conversation))
        raise Refused("no key") if saying.conversation == "one" else Unavailable("it is down")

    assert check_inboxes(scope, None, HOW, runner=broken) == 3
    err = capfd.readouterr().err
    assert "marid: one: no key; `marid -C one resume` goes on there\n" in err
    assert "marid: two: it is down; `marid -C two resume` goes on there\n" in err


def test_ctrl_c_ends_all_of_it(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    played = PlayedRound(lambda: os.kill(os.getpid(), signal.SIGINT))
    assert check_inboxes(scope, None, HOW, runner=played, signals=lasting_signals()) == 130
    assert len(played.said) == 1


def test_ctrl_c_before_a_round_begins_ends_it_too(scope: RequestScope) -> None:
    def interrupted(_project: str, name: str, _overrides: object) -> None:
        if name:
            raise KeyboardInterrupt

    broken = scope._replace(app=scope.app._replace(resolve_settings=interrupted))
    assert check_inboxes(broken, None, HOW, runner=PlayedRound()) == 130


def test_the_display_is_each_conversation_s_own(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    shown = ChatRequest(conversation="", display={"verbose": True})
    check_inboxes(scope, ["one"], shown, runner=PlayedRound(TextDelta("Done.")))
    assert scope.within("one").resolve().settings.display == DisplaySettings()
    assert capfd.readouterr().out == "Done.\n"


def test_the_real_round_takes_the_messages_out(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    assert check_inboxes(scope, ["one"], HOW) == 0
    assert "offline" in capfd.readouterr().out.lower()
    assert scope.stores.inbox.peek("one") == ()


def test_messages_that_are_known_already_are_as_if_nothing_waited(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    inbox = scope.stores.inbox
    [message] = inbox.peek("one")
    check_inboxes(scope, ["one"], HOW)
    inbox.send(message)
    capfd.readouterr()
    assert check_inboxes(scope, ["one"], HOW) == 0
    shown = capfd.readouterr()
    assert (shown.out, shown.err.count("nothing waits for 'one'")) == ("", 1)
