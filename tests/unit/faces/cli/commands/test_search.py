import json

from fakes.program import Program
from fakes.real_app import add_messages
from marid.bootstrap.wiring import open_request


def test_what_was_said_anywhere_is_found(marid: Program) -> None:
    add_messages(open_request(), "a", "a zebra crosses")
    add_messages(open_request(), "b", "no animal")
    found = marid("search", "--conversations", "ZEBR")
    assert found.lines[0].startswith("a  20")
    assert found.lines[1:] == ["  a zebra crosses", ""]
    assert json.loads(marid("search", "--conversations", "--json", "--words", "zebra").text)["conversation"] == "a"
    assert "was found in no conversation" in marid("search", "--conversations", "lion").err


def test_the_flag_is_required(marid: Program) -> None:
    told = marid("search", "zebra")
    assert told.code == 2
    assert "add --conversations" in told.err
    assert marid("search", "--conversations", " ").code == 2
