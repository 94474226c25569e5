import os
import signal
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import click
import pytest

from fakes.apps import PlayedRound, display_scope
from fakes.program import lasting_signals
from marid.app.app import RequestScope
from marid.app.rounds import RoundRequest
from marid.app.tool_session import ToolAccess
from marid.bootstrap.wiring import open_request
from marid.core.caller import Caller
from marid.core.conversation.records import InboxMessage
from marid.core.errors import BadInput, Refused, Unavailable
from marid.core.events import Event, EventListener
from marid.core.model_io import ReasoningDelta, TextDelta
from marid.core.policy.policy import Effect
from marid.core.round_events import RoundEnd, RoundEvent, ToolStarted
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.chat.chat_round import (
    ChatRequest,
    RoundAction,
    chat_request,
    check_inboxes,
    display_settings,
    run_chat,
    show_round,
)
from marid.faces.cli.commands.rounds import CHAT_OPTIONS
from marid.toolkit.questions import Asker


def test_what_is_said_reaches_the_round_with_all_its_conditions(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    played = PlayedRound(TextDelta("Yes."))
    said = ChatRequest(
        conversation="project",
        prompt="is it so?",
        access=ToolAccess(trust=True),
        force="agent",
        debug=frozenset({"request-log", "force-markdown"}),
    )
    assert run_chat(display_scope(tmp_path), said, runner=played) == 0
    assert played.said == [said]
    assert capfd.readouterr() == ("Yes.\n", "")


def test_a_blank_prompt_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    played = PlayedRound()
    with pytest.raises(BadInput, match="the prompt is empty"):
        run_chat(display_scope(tmp_path), ChatRequest(conversation="c", prompt=" "), runner=played)
    assert played.said == []


def test_resuming_needs_no_prompt(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    played = PlayedRound(end=RoundEnd("nothing", "r"))
    assert run_chat(display_scope(tmp_path), ChatRequest(conversation="c", resume=True), runner=played) == 0
    assert played.said[0].resume
    assert "nothing to resume" in capfd.readouterr().err


def test_flags_are_stronger_than_the_files(tmp_path: Path) -> None:
    scope = display_scope(tmp_path, DisplaySettings(verbose=True, show_thinking=True))
    flags = ChatRequest(conversation="c", display={"show_thinking": False, "hide_tool_calls": True})
    assert display_settings(flags, scope.within("c").resolve()) == DisplaySettings(verbose=True, hide_tool_calls=True)


def test_the_display_of_the_files_counts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    played = PlayedRound(ReasoningDelta("hm"), ToolStarted("1", "get_tree", "."), TextDelta("Yes."))
    request = ChatRequest(conversation="c", prompt="hi")
    run_chat(display_scope(tmp_path, DisplaySettings(verbose=True)), request, runner=played)
    assert capfd.readouterr() == ("Yes.\n", "[get_tree] .\n")
    run_chat(display_scope(tmp_path), replace(request, display={"show_thinking": True}), runner=played)
    assert capfd.readouterr() == ("Yes.\n", "hm\n")


@pytest.mark.parametrize("by_signal", [True, False])
def test_ctrl_c_before_the_round_begins_ends_quietly(tmp_path: Path, by_signal: bool) -> None:
    def interrupt(*_: object) -> None:
        if by_signal:
            os.kill(os.getpid(), signal.SIGINT)
        raise KeyboardInterrupt

    scope = display_scope(tmp_path)
    scope = scope._replace(app=scope.app._replace(resolve_settings=interrupt))
    request = ChatRequest(conversation="c", prompt="hi")
    assert run_chat(scope, request, runner=PlayedRound(), signals=lasting_signals()) == 130


Listener = EventListener[RoundEvent]


async def say(listener: Listener, text: str) -> None:
    await listener(Event("r", 0, Caller(face="test"), TextDelta(text)))


def perform(place: Path, act: RoundAction) -> int:
    with lasting_signals() as signals:
        return anyio.run(show_round, display_scope(place), act, DisplaySettings(), frozenset[str](), signals)


def test_the_answer_is_shown_and_the_end_is_success(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def act(listener: Listener, asker: Asker | None) -> RoundEnd:
        await say(listener, "Hello")
        return RoundEnd("loop", "r")

    assert perform(tmp_path, act) == 0
    said = capfd.readouterr()
    assert said.out == "Hello\n"
    assert "same tool call" in said.err


def test_a_round_that_had_nothing_to_do_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def act(listener: Listener, asker: Asker | None) -> None:
        assert asker is None

    assert perform(tmp_path, act) == 0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("error", [Unavailable("the stream was cut"), ZeroDivisionError()])
def test_what_a_round_raises_comes_as_it_is_and_what_was_said_stays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], error: Exception
) -> None:
    async def act(listener: Listener, asker: Asker | None) -> RoundEnd:
        await say(listener, "half")
        raise error

    with pytest.raises(type(error)):
        perform(tmp_path, act)
    assert capfd.readouterr().out == "half\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interrupted_round_is_cancelled_as_a_whole(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], number: int, code: int
) -> None:
    kept: list[str] = []

    async def act(listener: Listener, asker: Asker | None) -> RoundEnd:
        await say(listener, "half")
        os.kill(os.getpid(), number)
        try:
            await anyio.sleep(20)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.01)
                kept.append("half")
        raise AssertionError

    assert perform(tmp_path, act) == code
    assert kept == ["half"]
    assert capfd.readouterr() == ("half\n", "")


def test_an_error_after_an_interruption_does_not_change_the_exit_code(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def act(listener: Listener, asker: Asker | None) -> RoundEnd:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            return await anyio.sleep(20) or RoundEnd("answered", "r")
        finally:
            raise Unavailable("the disk is full")

    assert perform(tmp_path, act) == 130


def test_a_reader_that_goes_away_ends_the_round_and_what_was_said_is_kept(tmp_path: Path) -> None:
    kept: list[str] = []

    async def act(listener: Listener, asker: Asker | None) -> RoundEnd:
        try:
            for _ in range(1000):
                await say(listener, "word ")
                await anyio.sleep(0.001)
        finally:
            kept.append("word")
        return RoundEnd("answered", "r")

    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as nobody, redirect_stdout(nobody), pytest.raises(BrokenPipeError):
        perform(tmp_path, act)
    assert kept == ["word"]


def flags(*args: str) -> dict[str, Any]:
    """The flags as click reads them."""
    command = click.Command("say", params=list(CHAT_OPTIONS))
    with command.make_context("say", list(args)) as ctx:
        return ctx.params


def said(*args: str) -> ChatRequest:
    return chat_request("c", "words", flags(*args))


def test_without_flags_everything_is_as_the_files_say() -> None:
    assert said() == chat_request("c", "words", {}) == ChatRequest(conversation="c", prompt="words")


def test_waiting_for_whoever_holds_the_conversation_is_in_seconds() -> None:
    assert (said("--wait-lock", "2.5").lock_timeout, said().lock_timeout) == (2.5, 0.0)
    with pytest.raises(BadInput, match="number of seconds"):
        said("--wait-lock", "soon")


def test_the_display_holds_only_what_was_given() -> None:
    assert said("-v", "--raw").display == {"verbose": True, "render_markdown": False}
    assert said("--show-thinking", "--hide-tool-calls").display == {"show_thinking": True, "hide_tool_calls": True}


def test_reach_and_debug_are_read_as_everywhere() -> None:
    talk = said("--allow", "write", "--root", "a", "--debug", "request_log,force-markdown,unknown")
    assert talk.access.allow == {Effect.WRITE}
    assert talk.access.roots == ("a",)
    assert talk.debug == {"request-log", "force-markdown"}
    assert said("--debug", "all").debug == {"request-log", "response-meta"}


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
    told = "marid: processing the inbox of 'one'\nmarid: processing the inbox of 'two'\n"
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
    assert capfd.readouterr().err == "marid: 'three' has no pending messages\nmarid: processing the inbox of 'two'\n"


def test_where_nothing_waits_at_all_it_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert check_inboxes(empty(tmp_path), None, HOW, runner=PlayedRound()) == 0
    assert capfd.readouterr() == ("", "marid: no pending messages in any inbox\n")


def test_one_that_fails_is_told_and_the_others_go_on(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    played = PlayedRound(end=Unavailable("somebody else holds it"))
    assert check_inboxes(scope, None, HOW, runner=played) == 6
    assert len(played.said) == 2
    assert capfd.readouterr().err.count("somebody else holds it; its messages are still pending") == 2


def test_the_first_failure_is_the_exit_code_and_a_round_that_broke_off_can_go_on(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    async def broken(scope: RequestScope, saying: RoundRequest, emit: object, asker: object) -> None:
        inbox = scope.stores.inbox
        inbox.remove(saying.conversation, inbox.peek(saying.conversation))
        raise Refused("no key") if saying.conversation == "one" else Unavailable("it is down")

    assert check_inboxes(scope, None, HOW, runner=broken) == 3
    err = capfd.readouterr().err
    assert "marid: one: no key; `marid -C one resume` continues\n" in err
    assert "marid: two: it is down; `marid -C two resume` continues\n" in err


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
    assert (shown.out, shown.err.count("'one' has no pending messages")) == ("", 1)
