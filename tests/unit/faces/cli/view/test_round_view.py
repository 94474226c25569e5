"""A round as a person sees it."""

from io import StringIO
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from fakes.terminal import terminal
from marid.core.conversation.entry import Entry
from marid.core.events import QuestionAsked
from marid.core.model_io import ReasoningDelta, RetryScheduled, TextDelta, Usage
from marid.core.round_events import (
    EndReason,
    EntryStored,
    FuelExhausted,
    ReplyEnded,
    RoundEnd,
    RoundEvent,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.view.answer_output import AnswerStream, PlainAnswer
from marid.faces.cli.view.round_view import RoundView, RoundViewOptions, make_round_view
from marid.faces.cli.view.status_lines import StatusLines, StatusStream, WaitIndicator
from marid.faces.signals import SignalGuard


class Seen(NamedTuple):
    out: str
    err: str


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "out"


def seen(place: Path, display: DisplaySettings, *what: RoundEvent | RoundEnd) -> Seen:
    stream = StringIO()
    with place.open("w") as file:
        out = AnswerStream(file, SignalGuard(), lambda: None)
        sink = make_round_view(out, StatusStream(stream, out), RoundViewOptions(display))
        for one in what:
            sink.show_end(one) if isinstance(one, RoundEnd) else sink.show(one)
        sink.close()
    return Seen(place.read_text(), stream.getvalue())


def test_stdout_is_the_answer_and_one_newline(place: Path) -> None:
    whole = (
        TextDelta("Hel"),
        TextDelta("lo"),
        ReplyEnded(),
        EntryStored(Entry(id="e", entry_type="message")),
    )
    assert seen(place, DisplaySettings(), *whole, RoundEnd("answered", "r")) == ("Hello\n", "")
    assert seen(place, DisplaySettings(), TextDelta("Hello\n"), ReplyEnded()) == ("Hello\n", "")
    assert seen(place, DisplaySettings(), ReplyEnded(), RoundEnd("handed", "r")) == ("", "")


def test_two_replies_are_separated_by_one_newline(place: Path) -> None:
    tool = (ToolStarted("1", "get_tree", "."), ToolEnded("1", "get_tree", "a", failed=False))
    what = (
        TextDelta("Looking."),
        ReplyEnded(),
        *tool,
        ReplyEnded(),
        TextDelta("Done."),
        ReplyEnded(),
        TextDelta("And you?"),
    )
    assert seen(place, DisplaySettings(), *what) == ("Looking.\nDone.\nAnd you?\n", "")


def test_what_a_reply_has_cost_does_not_break_into_it(place: Path) -> None:
    cost = UsageReported("m", Usage(1, 2))
    with terminal() as glass:
        out = AnswerStream(glass.file, SignalGuard(), lambda: None)
        sink = make_round_view(out, StatusStream(glass.file, out), RoundViewOptions(DisplaySettings(verbose=True)))
        sink.show(TextDelta("Done: *al"))
        sink.show(cost)
        sink.show(TextDelta("l*"))
        sink.show(ReplyEnded())
        sink.show(cost)
        assert glass.text() == "Done: all\n[usage] m: 1 tokens in, 2 out\n[usage] m: 1 tokens in, 2 out\n"


def test_an_answer_that_breaks_off_ends_its_line(place: Path) -> None:
    assert seen(place, DisplaySettings(), TextDelta("half")).out == "half\n"


def test_thoughts_are_shown_only_when_wanted_and_never_on_stdout(place: Path) -> None:
    what = (
        ReasoningDelta("hm"),
        ReasoningDelta("m"),
        TextDelta("Yes"),
        ReasoningDelta("or not"),
        ToolStarted("1", "t", ""),
    )
    assert seen(place, DisplaySettings(), *what) == ("Yes\n", "")
    assert seen(place, DisplaySettings(show_thinking=True), *what) == ("Yes\n", "hmm\nor not\n")


@pytest.mark.parametrize("reason", get_args(EndReason))
def test_an_end_that_is_no_answer_is_told(place: Path, reason: EndReason) -> None:
    err = seen(place, DisplaySettings(), RoundEnd(reason, "r")).err
    words = {"fuel": "fuel", "loop": "same tool call", "empty": "empty answer", "nothing": "nothing to resume"}
    words |= {"length": "max_tokens", "filtered": "filter", "answered": "", "handed": ""}
    assert words[reason] in err
    assert err.count("\n") == (1 if words[reason] else 0)


def test_that_the_fuel_is_used_up_is_told_once(place: Path) -> None:
    assert seen(place, DisplaySettings(), FuelExhausted(30), RoundEnd("fuel", "r")).err.count("out of fuel") == 1


def test_a_waiting_line_is_for_the_model_not_for_tools(place: Path) -> None:
    now = [0.0]
    with terminal() as glass, place.open("w") as file:
        out = AnswerStream(file, SignalGuard(), lambda: None)
        err = StatusStream(glass.file, out)
        waiting = WaitIndicator(err, shown=True, clock=lambda: now[0])
        sink = RoundView(
            PlainAnswer(out),
            PlainAnswer(err),
            StatusLines(err, DisplaySettings(), colour=True, asks_here=True),
            waiting,
        )

        def waits() -> bool:
            now[0] += 10
            waiting.tick()
            shown = glass.text()
            return "waiting" in shown or "retrying" in shown

        assert not waits()
        steps: list[tuple[RoundEvent, bool]] = [
            (ReplyEnded(), True),
            (TextDelta("a"), False),
            (ReasoningDelta("b"), False),
            (ReplyEnded(), True),
            (ToolStarted("1", "t", ""), False),
            (ToolStarted("2", "t", ""), False),
            (ToolEnded("1", "t", "", failed=False), False),
            (ToolEnded("2", "t", "", failed=False), True),
            (QuestionAsked("q", "edit", "t"), False),
            (RetryScheduled(2, 20.0, "503"), True),
        ]
        for what, expected in steps:
            sink.show(what)
            assert waits() is expected, what
        sink.close()
        sink.break_line()
        assert glass.text().endswith("\n")


def test_a_new_line_is_begun_only_on_a_terminal(place: Path) -> None:
    with place.open("w") as file:
        stream = StringIO()
        out = AnswerStream(file, SignalGuard(), lambda: None)
        sink = make_round_view(out, StatusStream(stream, out), RoundViewOptions(DisplaySettings()))
        sink.break_line()
    assert stream.getvalue() == ""


def test_a_terminal_gets_rendered_or_plain_text_as_the_display_says() -> None:
    for display, expected in ((DisplaySettings(), False), (DisplaySettings(render_markdown=False), True)):
        with terminal() as glass:
            out = AnswerStream(glass.file, SignalGuard(), lambda: None)
            sink = make_round_view(
                out, StatusStream(glass.file, out), RoundViewOptions(display._replace(show_thinking=True))
            )
            sink.show(ReasoningDelta("hm"))
            sink.show(TextDelta("**bold** \x1b[2J"))
            sink.close()
            shown = glass.text()
        assert ("**bold** \\x1b[2J\n" in shown) is expected
        assert "\x1b[2J" not in shown
        assert shown.endswith("\n")


def test_markdown_may_be_rendered_in_a_pipe(place: Path) -> None:
    with place.open("w") as file:
        out = AnswerStream(file, SignalGuard(), lambda: None)
        sink = make_round_view(
            out, StatusStream(StringIO(), out), RoundViewOptions(DisplaySettings(render_markdown=False), markdown=True)
        )
        sink.show(TextDelta("**bold**"))
        sink.close()
    assert place.read_text() == "bold\n"
