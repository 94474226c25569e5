"""Lines of code with the lexer's state kept from one to the next."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.token import Comment, Keyword, String
from rich.style import Style

from marid.faces.cli.view.markdown_code import LONGEST_LINE, CodePainter, LineLexer, find_lexer


def lexer(label: str) -> LineLexer:
    found = find_lexer(label)
    assert found
    return found


@pytest.mark.parametrize(
    ("label", "lines", "kind"),
    [
        ("py", ['x = """a', "return", '"""', "return"], String),
        ("js", ["x /* a", "return", "*/", "return"], Comment),
        ("js", ["x = `a", "return", "`", "return"], String),
        ("c", ["/* a", "return", "*/", "return"], Comment),
        ("go", ["x := `a", "return", "`", "return"], String),
        ("rust", ["/* a", "return", "*/", "return"], Comment),
    ],
)
def test_what_is_open_at_the_end_of_a_line_is_open_in_the_next(label: str, lines: list[str], kind: object) -> None:
    reader = lexer(label)
    kinds = [reader.split(line)[0][0] for line in lines]
    assert kinds[1] in kind  # pyright: ignore[reportOperatorIssue]
    assert kinds[2] in kind  # pyright: ignore[reportOperatorIssue]
    assert kinds[3] in Keyword


@pytest.mark.parametrize("label", ["py", "js", "c", "html", "json", "pycon", "html+jinja", "bash", "yaml", "rst", "md"])
@given(lines=st.lists(st.text("ab /*`'\"<>!-=(){}[]\\#:$|\t", max_size=20), max_size=5))
@settings(max_examples=40, deadline=None)
def test_the_pieces_of_a_line_are_the_line(label: str, lines: list[str]) -> None:
    reader = lexer(label)
    for line in lines:
        assert "".join(part for _, part in reader.split(line)) == line


def test_a_hostile_line_is_not_read() -> None:
    assert [part for _, part in lexer("py").split("(" * (LONGEST_LINE + 1))] == ["(" * (LONGEST_LINE + 1)]


def test_states_without_end_are_forgotten() -> None:
    reader = lexer("js")
    for _ in range(300):
        reader.split("`${" * 100)
    assert "".join(part for _, part in reader.split("return")) == "return"


def test_code_is_painted_on_its_ground() -> None:
    for ground in (Style(bgcolor="black"), Style(bgcolor="white")):
        pieces = list(CodePainter(lexer("py"), ground).paint("return 1 ?"))
        assert {style.bgcolor for _, style in pieces} == {ground.bgcolor}
        assert pieces[0][1].color is not None
    assert list(CodePainter(None, Style()).paint("return")) == [("return", Style())]
