import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from fakes.real_app import add_call, add_entries, add_messages, add_note, real_scope
from fakes.terminal import terminal
from marid.app.app import RequestScope
from marid.core.conversation.entry import (
    ARCHIVAL,
    FLOW_CALL,
    FLOW_RESULT,
    MESSAGE,
    TO_USER,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_STARTED,
    Entry,
)
from marid.faces.cli.operations.conversation_views import (
    LogOptions,
    align_columns,
    entry_text,
    excerpt,
    follow_log,
    is_visible,
    list_conversations,
    quick_list,
    quick_log,
    show_conversation,
    show_log,
    show_search_hits,
)
from marid.faces.cli.view.console import highlight, print_untrusted


@pytest.fixture
def scope(tmp_path: Path) -> RequestScope:
    return real_scope(tmp_path)


def out(capfd: pytest.CaptureFixture[str]) -> str:
    return capfd.readouterr().out


def test_all_are_listed_and_the_working_one_is_marked(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "b", "one", "two")
    add_messages(scope, "a", "one")
    list_conversations(scope, "b")
    lines = out(capfd).splitlines()
    assert [line.split()[0] for line in lines] == ["a", "*"]
    assert lines[1].startswith("* b  2 messages  20")
    list_conversations(scope, "zoo")
    assert out(capfd).splitlines()[-1] == "* zoo  not used yet"


def test_one_that_is_held_archived_or_unreadable_is_told(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    conversations = scope.stores.conversations
    add_messages(scope, "away", "x")
    conversations.archive("away")
    with conversations.open("busy", create=True):
        list_conversations(scope, "busy")
        show_conversation(scope, "busy")
    told = out(capfd)
    assert "* busy [active]" in told
    assert "  away [archived]" in told
    assert "held by    process " in told
    active = Path(scope.home, "contexts/away/transcript/active.jsonl")
    active.unlink()
    active.mkdir()
    list_conversations(scope, "busy")
    assert "unreadable" in out(capfd)


def test_a_program_reads_the_same(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "a", "one")
    list_conversations(scope, "a", as_json=True)
    (row,) = json.loads(out(capfd))
    assert (row["name"], row["current"], row["active"], row["messages"]) == ("a", True, False, 1)
    show_conversation(scope, "a", as_json=True)
    assert json.loads(out(capfd))["messages"] == 1


def test_one_is_shown_in_short(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "a", "one")
    add_note(scope, "a", "summary", "What it was about.\nMore.")
    show_conversation(scope, "a")
    lines = out(capfd).splitlines()
    assert lines[:2] == ["a", "  messages   1"]
    assert "  summary    What it was about." in lines
    show_conversation(scope, "unused")
    assert out(capfd) == "unused\n  messages   0\n"


def test_a_log_has_the_last_the_first_or_all_entries(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "a", "one", "two", "three")
    for count, shown in ((2, ["two", "three"]), (-1, ["one"]), (0, ["one", "two", "three"])):
        show_log(scope, "a", count, LogOptions())
        assert [line for line in out(capfd).splitlines() if line and not line.startswith("[")] == shown


@pytest.mark.parametrize("whole", [False, True])
def test_the_number_of_entries_counts_what_is_shown(
    scope: RequestScope, capfd: pytest.CaptureFixture[str], *, whole: bool
) -> None:
    add_messages(scope, "a", "one")
    marks = [Entry(entry_type=TOOL_STARTED, sender="a", to="get_tree", tool_call_id=str(id)) for id in range(3)]
    handed = [
        Entry(entry_type=FLOW_CALL, content="{}", sender="a", to=TO_USER, tool_call_id="9"),
        Entry(entry_type=FLOW_RESULT, content="", sender=TO_USER, to="a", tool_call_id="9"),
    ]
    add_entries(scope, "a", [*marks, *handed])
    add_messages(scope, "a", "two")
    add_entries(scope, "a", marks)
    show_log(scope, "a", 2, LogOptions(whole=whole))
    assert out(capfd) == "[ann]\none\n\n[ann]\ntwo\n\n"
    show_log(scope, "a", -2, LogOptions(whole=whole))
    assert out(capfd) == "[ann]\none\n\n[ann]\ntwo\n\n"
    show_log(scope, "a", 2, LogOptions(whole=whole, verbose=True))
    assert out(capfd) == "[started: get_tree]\n" * 2
    show_log(scope, "a", 2, LogOptions(whole=whole, as_json=True))
    assert out(capfd).count("tool_started") == 2


def test_all_that_was_ever_said_goes_beyond_the_window(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "a", "old")
    with scope.stores.conversations.open("a") as held:
        held.clear()
    add_messages(scope, "a", "new")
    show_log(scope, "a", 0, LogOptions())
    assert out(capfd) == "[ann]\nnew\n\n"
    show_log(scope, "a", 0, LogOptions(whole=True))
    assert out(capfd) == "[ann]\nold\n\n[ann]\nnew\n\n"
    show_log(scope, "a", 1, LogOptions(whole=True))
    assert out(capfd) == "[ann]\nnew\n\n"
    show_log(scope, "a", -1, LogOptions(whole=True))
    assert out(capfd) == "[ann]\nold\n\n"
    show_log(scope, "a", 0, LogOptions(whole=True, verbose=True))
    assert "[archival]" in out(capfd)


def test_entries_for_a_program_are_one_object_a_line(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_call(scope, "a", "get_tree", "{}", "result")
    show_log(scope, "a", 0, LogOptions(as_json=True))
    rows = [json.loads(line) for line in out(capfd).splitlines()]
    assert [row["entry_type"] for row in rows] == ["tool_call", "tool_result"]
    show_log(scope, "a", 0, LogOptions())
    assert out(capfd) == "[call: get_tree] {}\n[result: get_tree] 6 bytes\n"


def test_what_is_said_from_now_on_is_shown_as_it_comes(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "a", "before")
    texts = iter(["first", "second"])

    def over() -> bool:
        text = next(texts, None)
        if text:
            add_messages(scope, "a", text)
        return text is None

    follow_log(scope, "a", LogOptions(), over)
    assert out(capfd) == "[ann]\nfirst\n\n[ann]\nsecond\n\n"


def test_hits_are_shown_with_conversation_time_and_text(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "a", "the Word is here", "nothing")
    add_messages(scope, "b", "many words")
    show_search_hits(scope, "word")
    blocks = out(capfd).strip().split("\n\n")
    assert [block.split()[0] for block in blocks] == ["a", "b"]
    assert blocks[0].endswith("[ann]\n  the Word is here")
    show_search_hits(scope, "word", whole=True, as_json=True)
    assert json.loads(out(capfd))["conversation"] == "a"
    show_search_hits(scope, "zebra")
    assert "no conversation contains 'zebra'" in capfd.readouterr().err


def test_lines_that_cannot_be_read_are_told_by_a_log_and_by_a_search(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    add_messages(scope, "a", "one", "two")
    active = Path(scope.home, "contexts/a/transcript/active.jsonl")
    active.write_bytes(active.read_bytes().replace(b"one", b"o\tne"))
    for show in (
        lambda: show_log(scope, "a", 0, LogOptions()),
        lambda: show_log(scope, "a", 0, LogOptions(whole=True)),
        lambda: show_search_hits(scope, "two"),
    ):
        show()
        told = capfd.readouterr()
        assert "two" in told.out
        assert told.err == f"marid: line 2 of '{active}' cannot be read and is left out\n"


def test_on_a_terminal_messages_are_rendered_unless_that_is_not_wanted(scope: RequestScope) -> None:
    add_messages(scope, "a", "**bold** and \x1b[2J", "- one")
    with terminal() as screen, redirect_stdout(screen.file):
        show_log(scope._replace(colour=True), "a", 0, LogOptions())
        shown = screen.text()
        assert shown.startswith("[ann]\n")
        assert "**" not in shown
        assert "\x1b[2J" not in shown
        show_log(scope, "a", 0, LogOptions(raw=True))
        assert "[ann]\n**bold** and \\x1b[2J\n\n[bot]\n- one\n" in screen.text()
        Path(scope.home, "cli.toml").write_text("render_markdown = false\n")
        show_log(scope, "a", 1, LogOptions())
        assert screen.text() == "[bot]\n- one\n\n"


def test_a_title_cannot_forge_another_conversation(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    with scope.stores.conversations.open("default", create=True) as held:
        held.update_meta(lambda known: known._replace(title="mine\n* forged"))
    list_conversations(scope, "default")
    show_conversation(scope, "default")
    shown = out(capfd)
    assert "mine * forged" in shown
    assert not [line for line in shown.splitlines() if line.startswith("* forged")]


def test_a_hit_is_shown_as_it_was_said_and_found_by_what_was_said(
    scope: RequestScope, capfd: pytest.CaptureFixture[str]
) -> None:
    with scope.stores.conversations.open("talk", create=True) as held:
        call = Entry(entry_type=FLOW_CALL, content='{"message": "The zebra is here"}', sender="talk", to="call_user")
        held.append([call])
    show_search_hits(scope, "zebra")
    assert out(capfd).strip().endswith("  The zebra is here")
    show_search_hits(scope, "message")
    assert "no conversation contains" in capfd.readouterr().err
    show_search_hits(scope, "zebra", as_json=True)
    assert json.loads(out(capfd))["entry_type"] == FLOW_CALL


@pytest.mark.parametrize(
    ("quick", "args"),
    [
        *((quick_list, args) for args in (["show"], ["--help"], ["list", "x"], ["-v"])),
        *((quick_log, args) for args in (["a", "b"], [""], ["--follow"], ["-n", "x"], ["-n"], ["-n", "-3"])),
    ],
)
def test_what_is_unusual_is_left_to_click(quick: Any, args: list[str]) -> None:
    assert quick(args, pytest.fail) is None


def test_plain_lists_and_logs_are_shown(scope: RequestScope, capfd: pytest.CaptureFixture[str]) -> None:
    add_messages(scope, "work", "one", "two")
    for quick, args in ((quick_list, ["list"]), (quick_log, ["work", "-n", "1"])):
        run = quick(args, lambda: scope)
        assert run is not None
        assert run() == 0
    assert out(capfd).splitlines()[-2:] == ["two", ""]


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
    print_untrusted("a\ud800b")
    assert capfd.readouterr().out == "\x1b[2Jred\na\\ud800b\n"


def test_columns_are_as_wide_as_their_widest_cell_and_empty_ones_are_left_out() -> None:
    assert list(align_columns([("a", "", "x"), ("bcd", "", "yz")])) == ["a    x", "bcd  yz"]
    assert list(align_columns([])) == []


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
