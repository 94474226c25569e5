import pytest

from fakes.program import Program
from fakes.real_app import add_call, add_messages
from fakes.terminal import TerminalSession
from marid.bootstrap.wiring import open_request


@pytest.fixture
def talk(marid: Program) -> Program:
    """With a conversation `talk`."""
    add_messages(open_request(), "talk", "what was said first", "two")
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
    assert (told.code, told.out, told.err) == (0, b"", "marid: nothing was said in 'default' yet\n")
    assert marid("log", "--follow").code == 0
    assert marid("log", "gone").code == 4
    assert marid("log", "--follow", "gone").code == 4
    assert marid("log", "../x").code == 2


def test_what_contradicts_itself_is_refused(talk: Program) -> None:
    assert talk("log", "-f", "-n", "3").code == 2
    assert talk("log", "talk", "-f", "--all").code == 2


def test_what_is_said_is_followed_until_it_is_ended(talk: Program) -> None:
    with TerminalSession("log", "-f", "talk") as person:
        person.wait_for("is shown as it comes")
        add_messages(open_request(), "talk", "a new thing")
        person.wait_for("a new thing")
        assert "said first" not in person.shown
        person.type("\x03")
        assert person.wait_exit() == 130
