from fakes.program import Program
from fakes.real_app import add_messages
from marid.bootstrap.wiring import open_request


def test_the_history_is_archived_and_still_found(marid: Program) -> None:
    add_messages(open_request(), "a", "hello")
    assert "is archived" in marid("clear", "a").err
    assert marid("log", "a").text == ""
    assert "hello" in marid("log", "a", "--all").text
    assert "no history in 'default'" in marid("clear").err
    assert marid("clear", "a b").code == 2
