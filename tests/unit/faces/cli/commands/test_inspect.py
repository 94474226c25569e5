import json

from fakes.program import Program
from fakes.real_app import add_note
from marid.bootstrap.wiring import open_request


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
