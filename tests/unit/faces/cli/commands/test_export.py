import json

import pytest

from fakes.program import Program
from fakes.real_app import add_messages
from marid.bootstrap.wiring import open_request


@pytest.fixture
def talk(marid: Program) -> Program:
    """With a conversation `talk`."""
    add_messages(open_request(), "talk", "one \ud800", "two")
    return marid


def test_it_goes_to_stdout(talk: Program) -> None:
    shown = talk("export", "talk")
    assert shown.text.startswith("# ")
    assert "one \\ud800" in shown.text
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
