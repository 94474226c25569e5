import json
import os
from pathlib import Path

import pytest

from fakes.program import Program
from fakes.real_app import add_messages, real_scope
from marid.app.tool_session import ToolAccess
from marid.bootstrap.wiring import open_request
from marid.core.conversation.records import InboxMessage
from marid.core.errors import BadInput, NotFound
from marid.faces.cli.argv.command_line import flag_values, parse_command_line
from marid.faces.cli.line_rounds import call_tool, prompt_with_result, show_page
from marid.faces.cli.line_runner import asks_model, is_empty, run_line, start_run
from marid.testing import ModelServer, Script, say
from marid.toolkit.outcome import ToolFailure, ToolOutput


@pytest.mark.parametrize(
    ("args", "bare"),
    [
        ([], True),
        (["--home", "x", "--debug", "all"], True),
        (["-v"], False),
        (["hi"], False),
        (["--"], False),
        (["-c", "x"], False),
    ],
)
def test_a_line_that_asks_for_nothing_is_bare(args: list[str], bare: bool) -> None:
    assert is_empty(parse_command_line(args)) is bare


@pytest.mark.parametrize(
    ("args", "spoken"),
    [
        (["hi"], True),
        (["-c", "x"], True),
        (["-v"], True),
        (["--destroy-at", "5"], True),
        (["-a"], False),
        (["-a", "hi"], True),
        (["-L"], False),
        (["-L", "-X"], True),
        (["-c", "x", "-x"], False),
        (["-b"], False),
    ],
)
def test_a_model_is_asked_unless_something_else_was_wanted(args: list[str], spoken: bool) -> None:
    assert asks_model(parse_command_line(args)) is spoken


def test_settings_of_the_line_are_above_all_others(tmp_path: Path) -> None:
    scope = start_run(parse_command_line(["-s", "fuel=7", "-x"]), lambda: real_scope(tmp_path)).scope
    assert scope.settings.conversation.fuel == 7
    assert scope.within("a").resolve().settings.conversation.fuel == 7
    assert scope.within("a", {"fuel": "8"}).resolve().settings.conversation.fuel == 8
    with pytest.raises(BadInput):
        start_run(parse_command_line(["-s", "fule=7", "-x"]), lambda: real_scope(tmp_path))


@pytest.mark.parametrize(
    ("flags", "thing", "shown"),
    [
        (["-U", "bob"], "username", "bob"),
        (["--model", "openai:gpt-4o"], "model", "gpt-4o"),
        (["--model", "openai:gpt-4o"], "provider", "openai"),
        (["--no-tool-calls"], "no_tool_calls", "true"),
        (["--include", "get_tree,read_file"], "tools.include", "get_tree, read_file"),
        (["--exclude", "run_shell"], "tools.exclude", "run_shell"),
        (["-s", "fuel=7"], "fuel", "7"),
    ],
)
def test_what_is_inspected_is_as_the_flags_make_it(marid: Program, flags: list[str], thing: str, shown: str) -> None:
    add_messages(open_request(), "a", "x")
    assert marid(*flags, "-n", thing).text == f"{shown}\n"
    assert marid(*flags, "-N", "a", thing).text == f"{shown}\n"


def test_flags_are_what_commands_take() -> None:
    options = flag_values(parse_command_line(["-v", "--allow", "write", "--allow", "net", "--model", "m"]))
    assert (options["verbose"], options["allow"], options["model"], options["roots"]) == (
        True,
        ("write", "net"),
        "m",
        (),
    )


def test_a_wrong_line_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        start_run(parse_command_line(["-c", "a/b"]), lambda: real_scope(tmp_path))
    with pytest.raises(BadInput, match="nothing to do"):
        run_line(parse_command_line(["-x"]), lambda: real_scope(tmp_path))
    assert not (tmp_path / "home").exists()


def test_the_order_of_what_is_done_is_always_the_same(marid: Program) -> None:
    add_messages(open_request(), "default", "one")
    told = marid("-l", "-u", "ann", "-r", "other", "-a")
    assert [line.split("marid: ")[1][:20] for line in told.err.splitlines()] == [
        "archived the history",
        "renamed 'default' to",
        "your name in 'other'",
    ]
    assert told.lines[:2] == ["other", "  messages   0"]


def test_several_logs_and_things_may_be_asked_for(marid: Program) -> None:
    add_messages(open_request(), "a", "one", "two")
    told = marid("-G", "a", "1", "-n", "fuel", "-N", "a", "username", "-g0")
    assert told.lines == ["[bot]", "two", "", "30", "user"]
    assert "'default' has no entries yet" in told.err
    assert [json.loads(line)["content"] for line in marid("-G", "a", "0", "--json").lines] == ["one", "two"]


def configure(server: ModelServer) -> None:
    home = Path(os.environ["MARID_HOME"])
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f'base_url = "{server.openai}"\nmodel = "scripted-model"\n')


def test_operations_are_done_and_then_the_prompt_is_said(marid: Program) -> None:
    add_messages(open_request(), "default", "what was said before")
    with ModelServer([say("first answer")]) as server:
        configure(server)
        told = marid("-a", "-r", "fresh", "-y", "Be a pirate.", "-m", "scripted-model", "-u", "ann", "hello", "there")
        assert (told.code, told.text) == (0, "first answer\n")
        (request,) = [one for one in server.requests if one.kind == "chat"]
    assert "Be a pirate." in str(request.body)
    assert "hello there" in str(request.body)
    assert "what was said before" not in json.dumps(request.body["messages"][1:])
    assert marid("conversations").lines[0].startswith("* fresh  2 messages")


def test_the_result_of_a_tool_is_said_with_a_capital_x(marid: Program) -> None:
    marid.write({"a.txt": "the secret word\n"})
    with ModelServer([say("I see", calls=[])] * 3) as server:
        configure(server)
        told = marid("-P", "read_file", '{"path": "a.txt"}', "-X", "-s", "fuel=1", "look:")
        (request, *_) = [one for one in server.requests if one.kind == "chat"]
    assert told.text.startswith("I see")
    assert "look:" in str(request.body)
    assert "the secret word" in str(request.body)


def test_a_tool_alone_is_only_called(marid: Program) -> None:
    marid.write({"a.txt": "words\n"})
    assert "words" in marid("-P", "read_file", '{"path": "a.txt"}').text
    assert json.loads(marid("-P", "read_file", '{"path": "gone"}', "--json").text)["ok"] is False
    assert marid("-P", "write_file", '{"path": "b", "content": "x"}').code == 3
    assert marid("-t", "-P", "write_file", '{"path": "b", "content": "x"}').code == 0


def test_what_follows_goes_to_the_conversation_that_is_left(marid: Program) -> None:
    marid("-c", "one", "-x")
    marid("-u", "ann")
    told = marid("-d", "--yes", "-X", "-s", "fuel=1", "hello")
    assert told.code == 0
    assert "'default' is the current conversation" in told.err
    assert [row["name"] for row in json.loads(marid("-L", "--json").text)] == ["default"]


def test_inboxes_are_checked(marid: Program) -> None:
    assert "no pending messages" in marid("-b").err
    assert "'a' has no pending messages" in marid("-B", "a").err
    with ModelServer(Script(steps=[say("I have read it")])) as server:
        configure(server)
        scope = open_request()
        scope.stores.inbox.send(InboxMessage("boss", "a", "do it"))
        assert marid("-B", "a").text == "I have read it\n"


def test_what_is_known_of_a_model_is_shown(marid: Program) -> None:
    shown = marid("--model-metadata", "offline:offline")
    assert (shown.code, "[models." in shown.text) == (0, True)
    assert marid("--model-metadata-full", "offline:offline").text.startswith("#")


def test_another_conversation_is_changed_by_a_capital_letter(marid: Program) -> None:
    add_messages(open_request(), "a", "one")
    for args in (["-Ma", "offline:offline"], ["-Y", "a", "Be brief."], ["-A", "a"], ["-R", "a", "b"]):
        assert marid(*args).code == 0
    assert marid("-N", "b", "system_prompt").text == "Be brief.\n"
    assert marid("-N", "b", "provider").text == "offline\n"
    assert marid("-G", "b", "0").text == ""


def test_an_end_is_set_without_saying_anything(marid: Program) -> None:
    assert marid("-C", "brief", "--destroy-after-inactive", "5000", "-x").code == 0
    assert marid("-C", "brief", "--destroy-at", "1", "-x").code == 0
    assert json.loads(marid("-L", "--json").text) == []


def test_verbose_tells_what_went_and_what_is_meant(marid: Program) -> None:
    marid("-C", "brief", "--destroy-at", "1", "-x")
    told = marid("-v", "-c", "work", "-L")
    assert "deleted expired conversations: brief" in told.err
    assert "'work' is the current conversation" in told.err


@pytest.mark.parametrize("count", ["99999999999999999999", "-99999999999999999999", "9" * 5000])
def test_a_count_beyond_all_numbers_means_all(marid: Program, count: str) -> None:
    add_messages(open_request(), "default", "hello")
    assert "hello" in marid("-g", count).text
    assert marid("log", "-n", count[:20]).code == 0


def test_the_results_of_all_tools_are_said_with_a_capital_x(marid: Program) -> None:
    marid.write({"a/one.txt": "", "b/two.txt": ""})
    told = marid("-X", "-P", "get_tree", '{"path":"a"}', "-P", "get_tree", '{"path":"b"}')
    assert told.code == 0
    asked = marid("-g", "0").text
    assert "one.txt" in asked
    assert "two.txt" in asked


def test_what_is_wrong_with_a_call_is_a_failure(marid: Program, tmp_path: Path) -> None:
    told = marid("-P", "read_file", "[1]")
    assert (told.code, "-P takes the name of a tool and a JSON object" in told.err) == (2, True)
    told = marid("-P", "no_such_tool", "", "--json")
    assert (told.code, '"ok": false' in told.text) == (4, True)
    gone = call_tool(real_scope(tmp_path), ToolAccess(roots=("gone",)), "c", ("get_tree", "{}"))
    assert isinstance(gone, ToolFailure)


def test_a_model_is_told_the_words_and_the_result() -> None:
    assert prompt_with_result(ToolOutput(text="tree"), "") == "tree"
    assert prompt_with_result(ToolOutput(text="tree"), "look") == "look\n\ntree"
    assert prompt_with_result(ToolFailure(code=BadInput.code, message="no"), "look") == "look\n\nERROR: no"


def test_a_tool_of_the_conversation_works_on_it(marid: Program) -> None:
    assert marid("-C", "c", "-P", "update_todos", '{"content": "rest"}').code == 0
    assert marid("-N", "c", "todos").text == "rest\n"


def test_a_file_is_shown_as_an_answer_would_be_and_nothing_is_said(marid: Program) -> None:
    marid.write({"a.md": "# Title\n\n- **one**\n"})
    shown = marid("--debug", "md=a.md")
    assert (shown.code, "Title" in shown.text, "**" in shown.text) == (0, True, False)
    assert marid("--debug=request-log,md=a.md").text == shown.text
    assert marid("conversations", "--json").text.strip() == "[]"


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"gone\.md"):
        show_page(real_scope(tmp_path), "gone.md")
    with pytest.raises(BadInput, match="cannot be read"):
        show_page(real_scope(tmp_path), str(tmp_path))
