import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.program import Program
from fakes.real_app import add_call, add_messages, add_note
from fakes.terminal import TerminalSession
from marid.bootstrap.wiring import open_request


@pytest.fixture
def talk(marid: Program) -> Program:
    """With a conversation `talk`."""
    add_messages(open_request(), "talk", "what was said first \ud800", "two")
    add_call(open_request(), "talk", "get_tree", "{}", "x" * 100)
    return marid


def test_a_log_is_shown_alike_with_and_without_click(talk: Program) -> None:
    quick = talk("log", "talk", "-n", "3")
    assert quick.lines == ["[bot]", "two", "", "[call: get_tree] {}", "[result: get_tree] 100 bytes"]
    assert talk("log", "talk", "--count=3") == quick
    assert talk("-C", "talk", "log", "-n", "3") == quick


def test_whole_results_and_all_of_it(talk: Program) -> None:
    assert "x" * 100 in talk("log", "talk", "-v").text
    assert talk("-v", "log", "talk") == talk("log", "talk", "--verbose")
    assert talk("log", "talk", "--all").lines == talk("log", "talk").lines
    assert len(talk("log", "talk", "--json").lines) == 4


def test_the_current_one_may_be_unused_and_another_one_not(marid: Program) -> None:
    told = marid("log")
    assert (told.code, told.out, told.err) == (0, b"", "marid: 'default' has no entries yet\n")
    assert marid("log", "--follow").code == 0
    assert marid("log", "gone").code == 4
    assert marid("log", "--follow", "gone").code == 4
    assert marid("log", "../x").code == 2


def test_what_contradicts_itself_is_refused(talk: Program) -> None:
    assert talk("log", "-f", "-n", "3").code == 2
    assert talk("log", "talk", "-f", "--all").code == 2


def test_what_is_said_is_followed_until_it_is_ended(talk: Program) -> None:
    with TerminalSession("log", "-f", "talk") as person:
        person.wait_for("following 'talk'")
        add_messages(open_request(), "talk", "a new thing")
        person.wait_for("a new thing")
        assert "said first" not in person.shown
        person.type("\x03")
        assert person.wait_exit() == 130


def test_what_was_said_anywhere_is_found(marid: Program) -> None:
    add_messages(open_request(), "a", "a zebra crosses")
    add_messages(open_request(), "b", "no animal")
    found = marid("search", "--conversations", "ZEBR")
    assert found.lines[0].startswith("a  20")
    assert found.lines[1:] == ["  a zebra crosses", ""]
    assert json.loads(marid("search", "--conversations", "--json", "--words", "zebra").text)["conversation"] == "a"
    assert "no conversation contains" in marid("search", "--conversations", "lion").err


def test_the_flag_is_required(marid: Program) -> None:
    told = marid("search", "zebra")
    assert told.code == 2
    assert "add --conversations" in told.err
    assert marid("search", "--conversations", " ").code == 2


def test_it_goes_to_stdout(talk: Program) -> None:
    shown = talk("export", "talk")
    assert shown.text.startswith("# ")
    assert "first \\ud800" in shown.text
    assert json.loads(talk("-C", "talk", "export", "--format", "json").text)["conversation"]["name"] == "talk"


@pytest.mark.parametrize(("name", "begin"), [("a.md", "# "), ("a", "# "), ("a.json", "{"), ("a.HTML", "<!doctype")])
def test_a_file_has_the_form_of_its_name(talk: Program, name: str, begin: str) -> None:
    told = talk("export", "talk", "-o", name, "--all")
    assert (told.code, told.out) == (0, b"")
    assert (talk.folder / name).read_text().startswith(begin)


def test_what_cannot_be_is_told(talk: Program) -> None:
    assert talk("export", "talk", "-o", "a.pdf").code == 2
    assert talk("export", "talk", "-o", "no/such/a.md").code == 4
    assert talk("export", "gone").code == 4
    assert talk("export", "a/b").code == 2


def test_a_file_that_is_there_is_replaced_whole(talk: Program) -> None:
    """The defect: it was emptied first, and a disk that was full left it so."""
    place = talk.folder / "out.md"
    place.write_text("before")
    with place.open() as before:
        assert talk("export", "talk", "-o", "out.md").code == 0
        assert before.read() == "before"
    assert place.read_text().startswith("# ")


def test_a_thing_of_this_or_of_another_conversation_is_shown(marid: Program) -> None:
    add_note(open_request(), "a", "todos", "- tidy")
    assert marid("inspect", "todos").text == "(not set)\n"
    assert marid("inspect", "a", "todos").text == "- tidy\n"
    assert marid("inspect", "-C", "a", "todos").text == marid("-C", "a", "inspect", "todos").text == "- tidy\n"
    assert "todos" in marid("inspect", "list").lines


def test_a_setting_is_shown_with_those_of_flags(marid: Program) -> None:
    assert marid("-s", "fuel=7", "inspect", "fuel").text == "7\n"
    assert json.loads(marid("inspect", "fuel", "--json").text)["content"] == "30"


def test_what_is_no_thing_is_told(marid: Program) -> None:
    assert marid("inspect", "nonsense").code == 2
    assert marid("inspect", "a", "b", "todos").code == 2
    assert marid("inspect", "../a", "todos").code == 2
    assert "did you mean 'goals'" in marid("inspect", "goal").err


def local(name: str) -> str:
    return Path(os.environ["MARID_HOME"], "contexts", name, "local.toml").read_text()


def test_what_holds_in_a_conversation_is_set(marid: Program) -> None:
    assert marid("set", "username", "ann", "lee").code == 0
    assert 'username = "ann lee"' in local("default")
    assert marid("set", "-C", "work", "fuel", "9").code == 4
    assert marid("-C", "work", "set", "fuel", "9").code == 0
    assert marid("set", "-C", "work", "fuel", "9").code == 0
    assert marid("-C", "work", "inspect", "fuel").text == "9\n"
    assert marid("set", "model", "offline:offline").code == 0
    assert 'model = "offline:offline"' in local("default")
    assert marid("set", "api.temperature", "0.5").code == 0
    assert marid("set", "fuel=7").code == 0
    assert marid("inspect", "fuel").text == "7\n"


def test_a_system_prompt_is_a_text_or_a_file(marid: Program) -> None:
    marid("set", "system-prompt", "Be brief.")
    assert marid("-n", "system_prompt").text == "Be brief.\n"
    marid.write({"p.md": "Be long."})
    marid("set", "system_prompt", "p.md")
    assert marid("-n", "system_prompt").text == "Be long.\n"
    assert marid("set", "--unset", "system-prompt").code == 0
    assert "Be long" not in marid("-n", "system_prompt").text


def test_a_system_prompt_that_is_piped_in_is_not_said_as_well(marid: Program) -> None:
    marid.write({"p.md": "Be of a file."})
    told = marid.apart("-y", "/dev/stdin", "hello", given=b"Be piped in.")
    assert (told.code, marid("-n", "system_prompt").text) == (0, "Be piped in.\n")
    assert "has its own system prompt" in told.err
    script = f'"{sys.executable}" -m marid -y /dev/stdin hello < p.md'
    assert subprocess.run(["sh", "-c", script], capture_output=True, timeout=60, check=False).returncode == 0
    assert marid("-n", "system_prompt").text == "Be of a file.\n"
    assert "Be " not in marid("log").text
    assert marid.apart("-y", "/dev/stdin", given=b"Be alone.").code == 0
    assert marid("-n", "system_prompt").text == "Be alone.\n"
    marid.write({"empty": ""})
    assert "has the default system prompt" in marid("-y", "empty", "-x").err


def test_a_key_is_taken_out_again(marid: Program) -> None:
    marid("set", "fuel", "9")
    assert "the default" in marid("set", "--unset", "fuel").err
    assert marid("-n", "fuel").text == "30\n"
    assert marid("set", "--unset", "username").code == 0


def test_a_provider_that_came_with_a_model_goes_with_it(marid: Program) -> None:
    marid("set", "model", "offline:offline")
    assert marid("inspect", "provider").text == "offline\n"
    assert "model is the default" in marid("set", "--unset", "model").err
    assert local("default") == ""
    assert marid("inspect", "provider").text == "(not set)\n"


@pytest.mark.parametrize(
    "args", [["fuel"], ["--unset", "fuel", "3"], ["fule", "3"], ["fuel", "much"], ["-C", "../x", "fuel", "3"], []]
)
def test_what_is_wrong_is_told(marid: Program, args: list[str]) -> None:
    assert marid("set", *args).code == 2
    assert not os.path.exists(os.environ["MARID_HOME"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("providers", '{"local":{"api_key":"hush-hush"}}'),
        ("providers.local", '{"api_key":"hush-hush"}'),
        ("providers.local.api_key", "hush-hush"),
        ("api_key", "hush-hush"),
        ("base_url", "http://u:hush-hush@127.0.0.1:9/v1"),
    ],
)
def test_a_secret_is_not_told_by_setting_it(marid: Program, key: str, value: str) -> None:
    told = marid("set", key, value)
    assert (told.code, "hush" in told.err + told.text) == (0, False)


def test_the_history_is_archived_and_still_found(marid: Program) -> None:
    add_messages(open_request(), "a", "hello")
    assert "archived the history of 'a'" in marid("clear", "a").err
    assert marid("log", "a").text == ""
    assert "hello" in marid("log", "a", "--all").text
    assert "'default' has no history" in marid("clear").err
    assert marid("clear", "a b").code == 2
