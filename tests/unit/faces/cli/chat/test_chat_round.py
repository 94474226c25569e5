"""A person says something and sees what comes of it."""

import os
import signal
from contextlib import redirect_stdout
from pathlib import Path

import anyio
import pytest

from fakes.apps import PlayedRound, display_scope
from fakes.program import lasting_signals
from marid.app.tool_access import ToolAccess
from marid.core.caller import Caller
from marid.core.errors import BadInput, Unavailable
from marid.core.events import Event, EventListener
from marid.core.model_io import ReasoningDelta, TextDelta
from marid.core.round_events import RoundEnd, RoundEvent, ToolStarted
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.chat.chat_round import ChatRequest, RoundAction, display_settings, run_chat, show_round
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
    with pytest.raises(BadInput, match="say something"):
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
    run_chat(
        display_scope(tmp_path, DisplaySettings(verbose=True)),
        ChatRequest(conversation="c", prompt="hi"),
        runner=played,
    )
    assert capfd.readouterr() == ("Yes.\n", "[get_tree] .\n")
    run_chat(
        display_scope(tmp_path),
        ChatRequest(conversation="c", prompt="hi", display={"show_thinking": True}),
        runner=played,
    )
    assert capfd.readouterr() == ("Yes.\n", "hm\n")


def test_errors_travel_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unavailable, match="down"):
        run_chat(
            display_scope(tmp_path),
            ChatRequest(conversation="c", prompt="hi"),
            runner=PlayedRound(TextDelta("ha"), end=Unavailable("down")),
        )
    assert capfd.readouterr().out == "ha\n"


def test_ctrl_c_before_the_round_begins_ends_quietly(tmp_path: Path) -> None:
    scope = display_scope(tmp_path)

    def slow(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    interrupted = scope._replace(app=scope.app._replace(resolve_settings=slow))
    assert (
        run_chat(
            interrupted, ChatRequest(conversation="c", prompt="hi"), runner=PlayedRound(), signals=lasting_signals()
        )
        == 130
    )


def test_ctrl_c_that_somebody_else_raises_is_the_same(tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    scope = display_scope(tmp_path)
    scope = scope._replace(app=scope.app._replace(resolve_settings=interrupted))
    assert run_chat(scope, ChatRequest(conversation="c", prompt="hi"), runner=PlayedRound()) == 130


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


def test_what_a_round_raises_comes_as_it_is_and_what_was_said_stays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def act(listener: Listener, asker: Asker | None) -> RoundEnd:
        await say(listener, "half")
        raise Unavailable("the stream was cut")

    with pytest.raises(Unavailable, match="the stream was cut"):
        perform(tmp_path, act)
    assert capfd.readouterr().out == "half\n"


def test_a_bug_is_not_hidden_in_a_group(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def act(listener: Listener, asker: Asker | None) -> RoundEnd:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        perform(tmp_path, act)


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
