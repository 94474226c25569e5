import json
from pathlib import Path
from typing import Any

import pytest

from fakes.pipe import Pipe, lines_of
from fakes.program import Outcome, Program
from marid.faces.pipe.input_schema import COMMAND_FIELDS, COMMANDS_WITHOUT_FIELDS
from marid.faces.pipe.json_command import ASYNC_COMMANDS, SYNC_COMMANDS

TREE = {"call_tool": {"name": "get_tree", "args": ['{"path": "."}']}}


def told(outcome: Outcome) -> dict[str, object]:
    return lines_of(outcome.err.encode())[-1]


def test_the_version_has_its_last_line(marid: Program) -> None:
    outcome = marid("json", "--version")
    assert outcome.text.startswith("marid ")
    assert (outcome.code, told(outcome)) == (0, {"type": "done", "ok": True})


def test_the_schema_is_pretty_and_has_its_last_line(marid: Program) -> None:
    outcome = marid("json", "--json-schema")
    assert json.loads(outcome.out)["required"] == ["command", "context"]
    assert len(outcome.lines) > 100
    assert (outcome.code, told(outcome)) == (0, {"type": "done", "ok": True})


def test_help_has_its_last_line(marid: Program) -> None:
    outcome = marid("json", "--help")
    assert "--json-schema" in outcome.text
    assert (outcome.code, told(outcome)) == (0, {"type": "done", "ok": True})


@pytest.mark.parametrize("args", [["--bogus"], ["word"], ["--allow"]])
def test_a_wrong_command_line_is_invalid_input(marid: Program, args: list[str]) -> None:
    outcome = marid("json", *args)
    assert (outcome.code, outcome.out, told(outcome)["code"]) == (2, b"", "invalid_input")


def test_an_effect_that_there_is_not_is_invalid_input(marid: Program) -> None:
    outcome = marid("json", "--allow", "everything")
    assert (outcome.code, told(outcome)["code"]) == (2, "invalid_input")


def test_what_is_there_is_told_first(pipe: Pipe) -> None:
    first = pipe("no_op").err[0]
    assert (first["type"], first["plugin_count"], first["plugin_names"]) == ("load_summary", 0, [])
    assert first["builtin_count"] == len(first["builtin_names"]) > 50


def test_what_a_person_should_know_of_his_settings_is_a_note(pipe: Pipe) -> None:
    answer = pipe("no_op", config={"auto_compact": True})
    assert [event["text"] for event in answer.events("note") if "auto_compact" in event["text"]]
    assert answer.code == 0


def test_what_the_request_holds_besides_is_a_note_and_changes_nothing(pipe: Pipe) -> None:
    answer = pipe("show_version", username_override="x")
    assert answer.done == {"type": "done", "ok": True}
    assert [note["text"] for note in answer.events("note")] == ["unknown key 'username_override' is ignored"]


def test_a_key_of_the_settings_is_in_no_event(pipe: Pipe) -> None:
    pipe.home.mkdir()
    (pipe.home / "config.toml").write_text('api_key = "sk-canary-1"\n[providers.x]\napi_key = "sk-canary-2"\n')
    answer = pipe({"call_tool": {"name": "sk-canary-1 sk-canary-2", "args": []}})
    assert answer.done["message"] == "no tool is called '[hidden] [hidden]'"


@pytest.mark.parametrize("name", ["../x", "a/b", "system", "", "x" * 101])
def test_a_wrong_name_is_refused_before_anything_is_made(pipe: Pipe, name: str) -> None:
    for command in ("no_op", "list_contexts"):
        answer = pipe(command, name)
        assert (answer.code, answer.out, answer.done["code"]) == (2, [], "invalid_input")
    for command in ({"destroy_context": {"name": name}}, {"rename_context": {"new": name}}):
        assert pipe(command).done["code"] == "invalid_input"
    assert not pipe.home.exists()


def test_an_override_that_cannot_be_read_is_invalid_input(pipe: Pipe) -> None:
    answer = pipe({"send_prompt": {"prompt": "hi"}}, overrides={"fuel": "much"})
    assert (answer.code, answer.out, answer.done["code"]) == (2, [], "invalid_input")
    assert not (pipe.home / "contexts").exists()


def test_a_home_and_a_project_of_the_request_count(pipe: Pipe, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.txt").write_text("x")
    places: dict[str, Any] = {"home": str(tmp_path / "other"), "project_root": str(tmp_path / "elsewhere")}
    assert "b.txt" in pipe(TREE, **places).contents[0]
    assert pipe({"inspect": {"thing": "home"}}, **places).contents == [str(tmp_path / "other")]


def test_every_command_of_the_schema_is_there_once() -> None:
    assert SYNC_COMMANDS.keys() | ASYNC_COMMANDS.keys() == {*COMMANDS_WITHOUT_FIELDS, *COMMAND_FIELDS}
    assert not SYNC_COMMANDS.keys() & ASYNC_COMMANDS.keys()
