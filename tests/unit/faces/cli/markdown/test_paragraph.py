"""Words in lines."""

import pytest

from marid.faces.cli.markdown.ink import Ink
from marid.faces.cli.markdown.paragraph import Paragraph


def setting(*pieces: tuple[str, str], colour: bool = False, exact: bool = False, look: str = "") -> str:
    ink = Ink(lambda: 12, colour=colour)
    paragraph = Paragraph(ink)
    paragraph.open((("- ", ""),), (("  ", ""),), look=look)
    for text, piece_look in pieces:
        paragraph.put(text, piece_look, exact=exact)
    paragraph.close()
    return ink.take()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three four", "- one two\n  three four\n"),
        ("1234567890 a", "- 1234567890\n  a\n"),
        ("  a   b\tc  ", "- a b c\n"),
        ("a unbreakablelongword b", "- a\n  unbreakablelongword\n  b\n"),
        ("中文中文中文。", "- 中文中文中\n  文。\n"),
        ("ab中文 é", "- ab中文 é\n"),
        ("", ""),
        ("   ", ""),
    ],
)
def test_lines_are_broken_between_words(text: str, lines: str) -> None:
    assert setting((text, "")) == lines
    assert setting(*((char, "") for char in text)) == lines


def test_a_word_in_several_looks_is_one_word() -> None:
    assert setting(("123456 12", ""), ("34", "1"), ("5", ""), colour=True) == "- 123456\n  12\x1b[1m34\x1b[0m5\n"


def test_exact_spaces_stay_unless_the_line_ends_there() -> None:
    assert setting(("a   b", ""), exact=True) == "- a   b\n"
    assert setting(("abcdef   ghij", ""), exact=True) == "- abcdef\n  ghij\n"


def test_a_look_for_all_goes_with_the_look_of_a_piece() -> None:
    assert setting(("a ", ""), ("b", "3"), look="1", colour=True) == "- \x1b[1ma \x1b[0;1;3mb\x1b[0m\n"


def test_a_margin_is_kept_alone_only_on_demand() -> None:
    ink = Ink(lambda: 12, colour=False)
    paragraph = Paragraph(ink)
    paragraph.open((("- ", ""),))
    assert not paragraph.close()
    assert ink.take() == ""
    assert paragraph.close(kept=True)
    assert ink.take() == "- \n"


def test_the_widest_line_is_known() -> None:
    paragraph = Paragraph(Ink(lambda: 12, colour=False))
    paragraph.open(())
    paragraph.put("one two three four")
    paragraph.close()
    assert paragraph.widest == 10
