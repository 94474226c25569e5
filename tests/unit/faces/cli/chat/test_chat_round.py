"""A person says something and sees what comes of it."""

import os
import signal
from pathlib import Path

import pytest

from fakes.patience import patient
from fakes.talks import Played, talking
from marid.app.tool_access import ToolAccess
from marid.core.errors import BadInput, Unavailable
from marid.core.model_io import ReasoningDelta, TextDelta
from marid.core.round_events import RoundEnd, ToolStarted
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.chat.chat_round import ChatRequest, display_settings, run_chat


def test_what_is_said_reaches_the_round_with_all_its_conditions(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    played = Played(TextDelta("Yes."))
    said = ChatRequest(
        conversation="project",
        prompt="is it so?",
        access=ToolAccess(trust=True),
        force="agent",
        debug=frozenset({"request-log", "force-markdown"}),
    )
    assert run_chat(talking(tmp_path), said, runner=played) == 0
    assert played.said == [said]
    assert capfd.readouterr() == ("Yes.\n", "")


def test_a_blank_prompt_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    played = Played()
    with pytest.raises(BadInput, match="say something"):
        run_chat(talking(tmp_path), ChatRequest(conversation="c", prompt=" "), runner=played)
    assert played.said == []


def test_resuming_needs_no_prompt(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    played = Played(end=RoundEnd("nothing", "r"))
    assert run_chat(talking(tmp_path), ChatRequest(conversation="c", resume=True), runner=played) == 0
    assert played.said[0].resume
    assert "nothing to resume" in capfd.readouterr().err


def test_flags_are_stronger_than_the_files(tmp_path: Path) -> None:
    scope = talking(tmp_path, DisplaySettings(verbose=True, show_thinking=True))
    flags = ChatRequest(conversation="c", display={"show_thinking": False, "hide_tool_calls": True})
    assert display_settings(flags, scope.within("c").resolve()) == DisplaySettings(verbose=True, hide_tool_calls=True)


def test_the_display_of_the_files_counts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    played = Played(ReasoningDelta("hm"), ToolStarted("1", "get_tree", "."), TextDelta("Yes."))
    run_chat(
        talking(tmp_path, DisplaySettings(verbose=True)), ChatRequest(conversation="c", prompt="hi"), runner=played
    )
    assert capfd.readouterr() == ("Yes.\n", "[get_tree] .\n")
    run_chat(
        talking(tmp_path), ChatRequest(conversation="c", prompt="hi", display={"show_thinking": True}), runner=played
    )
    assert capfd.readouterr() == ("Yes.\n", "hm\n")


def test_errors_travel_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unavailable, match="down"):
        run_chat(
            talking(tmp_path),
            ChatRequest(conversation="c", prompt="hi"),
            runner=Played(TextDelta("ha"), end=Unavailable("down")),
        )
    assert capfd.readouterr().out == "ha\n"


def test_ctrl_c_before_the_round_begins_ends_quietly(tmp_path: Path) -> None:
    scope = talking(tmp_path)

    def slow(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    interrupted = scope._replace(app=scope.app._replace(resolve_settings=slow))
    assert run_chat(interrupted, ChatRequest(conversation="c", prompt="hi"), runner=Played(), signals=patient()) == 130


def test_ctrl_c_that_somebody_else_raises_is_the_same(tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    scope = talking(tmp_path)
    scope = scope._replace(app=scope.app._replace(resolve_settings=interrupted))
    assert run_chat(scope, ChatRequest(conversation="c", prompt="hi"), runner=Played()) == 130
