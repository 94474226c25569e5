"""Looks, margins and blank lines."""

from marid.faces.cli.markdown.ink import Ink

QUOTE = (("│ ", "32"),)


def ink(*, colour: bool = True) -> Ink:
    return Ink(lambda: 20, colour=colour)


def test_a_look_is_turned_on_once_and_off_at_the_end_of_the_line() -> None:
    paper = ink()
    paper.start(QUOTE)
    for text, look in [("a", ""), ("b", "1"), ("c", "1"), ("d", "1;3")]:
        paper.add(text, look)
    paper.stop()
    assert paper.take() == "\x1b[32m│ \x1b[0ma\x1b[1mbc\x1b[0;1;3md\x1b[0m\n"
    assert paper.take() == ""


def test_without_colour_there_is_no_escape_sequence() -> None:
    paper = ink(colour=False)
    paper.start(QUOTE, "97;40")
    paper.add("a", "1")
    paper.stop()
    paper.blank((("  ", ""),), "97;40")
    paper.start(())
    assert paper.take() == "│ a\n\n"


def test_a_filled_line_is_filled_before_its_text() -> None:
    paper = ink()
    paper.start((), "97;40")
    paper.add("a", "97;40")
    paper.stop()
    assert paper.take() == "\x1b[97;40m\x1b[Ka\x1b[0m\n"


def test_blank_lines_wait_for_what_follows() -> None:
    paper = ink()
    paper.gap(())
    paper.start(())
    paper.stop()
    paper.gap(())
    paper.gap((("  ", ""), *QUOTE))
    assert paper.take() == "\n"
    paper.start(())
    assert paper.take() == "  \x1b[32m│\x1b[0m\n"
    paper.gap(())
    paper.forget()
    paper.start(())
    assert paper.take() == ""


def test_blank_lines_of_code_all_count_and_only_a_hundred_kinds_are_held() -> None:
    paper = ink(colour=False)
    for _ in range(3):
        paper.blank((), "")
    paper.start(())
    assert paper.take() == "\n\n\n"
    for _ in range(200):
        paper.blank((), "")
        paper.gap(())
    paper.start(())
    assert paper.take() == "\n" * 100


def test_the_room_beside_a_margin_is_never_too_narrow() -> None:
    assert ink().room(QUOTE) == 18
    assert ink().room((("x" * 30, ""),)) == 8
