"""What the flags of a round say."""

from pathlib import Path
from typing import Any

import click
import pytest

from marid.bootstrap.wiring import open_request
from marid.core.errors import BadInput
from marid.core.policy.policy import Effect
from marid.faces.cli.argv.command_line import settings_from
from marid.faces.cli.chat.chat_options import CHAT_OPTIONS
from marid.faces.cli.chat.chat_round import ChatRequest, chat_request


def flags(*args: str) -> dict[str, Any]:
    """The flags as click reads them."""
    command = click.Command("say", params=list(CHAT_OPTIONS))
    with command.make_context("say", list(args)) as ctx:
        return ctx.params


def said(*args: str) -> ChatRequest:
    return chat_request("c", "words", flags(*args))


def test_without_flags_everything_is_as_the_files_say() -> None:
    assert said() == ChatRequest(conversation="c", prompt="words")


def test_settings_of_flags_are_by_key() -> None:
    given = flags("--model", "m", "-U", "Ada", "-s", "fuel=3", "-s", "api.stop=a=b", "--no-tool-calls")
    assert settings_from(given) == {
        "model": "m",
        "username": "Ada",
        "fuel": "3",
        "api.stop": "a=b",
        "no_tool_calls": True,
    }


def test_tools_may_be_listed_in_one_word_or_several() -> None:
    given = flags("--include", "get_tree,read_file", "--include", "grep_files", "--exclude", "run_shell")
    assert settings_from(given) == {
        "tools.include": ("get_tree", "read_file", "grep_files"),
        "tools.exclude": ("run_shell",),
    }


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


@pytest.mark.parametrize("pair", ["fuel", "=3"])
def test_a_setting_needs_its_value(pair: str) -> None:
    with pytest.raises(BadInput, match="KEY=VALUE"):
        settings_from(flags("-s", pair))


def test_a_caller_that_knows_fewer_flags_may_leave_them_out() -> None:
    assert chat_request("c", "words", {}) == ChatRequest(conversation="c", prompt="words")


def test_the_names_of_tools_are_completed(tmp_path: Path) -> None:
    scope = open_request(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={})
    command = click.Command("say", params=list(CHAT_OPTIONS))
    option = next(option for option in CHAT_OPTIONS if option.name == "include")
    with command.make_context("say", [], obj=lambda: scope) as ctx:
        assert [item.value for item in option.shell_complete(ctx, "read_file,get_tr")] == ["read_file,get_tree"]
