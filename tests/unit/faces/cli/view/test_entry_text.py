from contextlib import redirect_stdout

import pytest

from fakes.terminal import terminal
from marid.core.conversation.entry import ARCHIVAL, MESSAGE, TOOL_CALL, TOOL_RESULT, TOOL_STARTED, Entry
from marid.faces.cli.view.console import count_text
from marid.faces.cli.view.entry_text import (
    align_columns,
    entry_text,
    escape_controls,
    excerpt,
    highlight,
    is_visible,
    print_untrusted,
)
from marid.text.display import format_timestamp


def words(kind: str, content: str, *, verbose: bool = False, **fields: str) -> str:
    return entry_text(Entry(entry_type=kind, content=content, **fields), verbose=verbose)  # pyright: ignore[reportArgumentType]


def test_messages_are_shown_whole() -> None:
    assert words(MESSAGE, "one\ntwo\n", sender="ann") == "[ann]\none\ntwo\n"
    assert words(MESSAGE, "one", sender="bot", status="interrupted") == "[bot] (interrupted)\none\n"


def test_calls_are_one_line_of_sixty_characters_and_results_a_size() -> None:
    long = '{"path":\n "' + "x" * 100 + '"}'
    assert words(TOOL_CALL, long, to="read_file") == '[call: read_file] {"path": "' + "x" * 50 + "…\n"
    assert words(TOOL_CALL, "{}", to="get_tree") == "[call: get_tree] {}\n"
    assert words(TOOL_RESULT, "é" * 1000, sender="read_file") == "[result: read_file] 2,000 bytes\n"
    assert words(TOOL_RESULT, "x", sender="a", status="failed") == "[result: a] 1 byte (failed)\n"


def test_when_verbose_they_are_whole_too() -> None:
    assert words(TOOL_CALL, "x" * 100, to="t", verbose=True) == f"[call: t] {'x' * 100}\n"
    assert words(TOOL_RESULT, "a\nb", sender="t", verbose=True) == "[result: t] a\nb\n"
    assert words(ARCHIVAL, "", verbose=True) == "[archival]\n"


def test_anchors_and_beginnings_are_hidden_and_other_entries_are_shown_in_short() -> None:
    for kind, shown in ((ARCHIVAL, False), (TOOL_STARTED, False), ("control_transfer", True)):
        assert is_visible(Entry(entry_type=kind), verbose=False) is shown
        assert is_visible(Entry(entry_type=kind), verbose=True)
    assert words("control_transfer", "y" * 80) == f"[control_transfer] {'y' * 60}…\n"


def test_what_was_said_is_obeyed_by_no_terminal() -> None:
    with terminal() as screen, redirect_stdout(screen.file):
        print_untrusted("\x1b[2Jred\nb\x07")
        assert screen.text() == "\\x1b[2Jred\nb\\x07\n"
        print_untrusted("a Word", bold=["word"])
        assert screen.text() == "a \x1b[1mWord\x1b[0m\n"


def test_in_a_pipe_it_is_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    print_untrusted("\x1b[2Jred", bold=["red"])
    assert capfd.readouterr().out == "\x1b[2Jred\n"


def test_half_a_pair_is_no_bug(capfd: pytest.CaptureFixture[str]) -> None:
    print_untrusted("a\ud800b")
    assert capfd.readouterr().out == "a\\ud800b\n"


def test_columns_are_as_wide_as_their_widest_cell_and_empty_ones_are_left_out() -> None:
    assert list(align_columns([("a", "", "x"), ("bcd", "", "yz")])) == ["a    x", "bcd  yz"]
    assert list(align_columns([])) == []


def test_one_is_no_plural() -> None:
    assert (count_text(1, "message"), count_text(2000, "message")) == ("1 message", "2,000 messages")


def test_never_is_no_time() -> None:
    assert format_timestamp(0) == ""
    assert format_timestamp(1_700_000_000_000).startswith("2023-11-1")


def test_words_are_marked_wherever_they_stand_in_any_case() -> None:
    assert highlight("Foo food", ["foo"]) == "\x1b[1mFoo\x1b[0m \x1b[1mfoo\x1b[0md"
    assert highlight("a.c abc", ["a.c"]) == "\x1b[1ma.c\x1b[0m abc"
    assert highlight("x", []) == "x"


def test_an_excerpt_is_the_line_of_the_first_word_and_not_more_than_fits() -> None:
    assert excerpt("one\ntwo word\nthree", ["word"]) == "…two word…"
    assert excerpt("word", ["word"]) == "word"
    long = excerpt("x" * 1000 + " word " + "y" * 1000, ["word"])
    assert "word" in long
    assert len(long) < 500
    assert excerpt("nothing", ["word"]) == "nothing"


def test_tabs_and_lines_stay() -> None:
    assert escape_controls("a\tb\r\nc") == "a\tb\nc"
