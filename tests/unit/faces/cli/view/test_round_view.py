"""A round as a person sees it."""

import os
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple, TextIO, get_args

import anyio
import pytest

from fakes.terminal import terminal
from marid.core.conversation.entry import Entry
from marid.core.events import Notice, QuestionAnswered, QuestionAsked, ToolCalled
from marid.core.model_io import ReasoningDelta, RetryScheduled, TextDelta, Usage
from marid.core.round_events import (
    EndReason,
    EntryStored,
    FuelExhausted,
    FuelStatus,
    InboxInjected,
    ReplyEnded,
    RoundEnd,
    RoundEvent,
    ToolEnded,
    ToolStarted,
    UsageReported,
    WindowWarning,
)
from marid.core.settings.values import DisplaySettings
from marid.faces.cli.view.answer_output import DEFAULT_WIDTH, AnswerStream, PlainAnswer
from marid.faces.cli.view.round_view import (
    RoundView,
    RoundViewOptions,
    StatusLines,
    StatusStream,
    WaitIndicator,
    make_round_view,
)
from marid.faces.signals import SignalGuard


class Seen(NamedTuple):
    out: str
    err: str


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "out"


def make_view(out: TextIO, err: TextIO, **options: Any) -> RoundView:
    stream = _out(out)
    return make_round_view(stream, StatusStream(err, stream), RoundViewOptions(**options))


def seen(place: Path, display: DisplaySettings, *what: RoundEvent | RoundEnd) -> Seen:
    stream = StringIO()
    with place.open("w") as file:
        sink = make_view(file, stream, display=display)
        for one in what:
            sink.show_end(one) if isinstance(one, RoundEnd) else sink.show(one)
        sink.close()
    return Seen(place.read_text(), stream.getvalue())


def test_stdout_is_the_answer_and_one_newline(place: Path) -> None:
    whole = (TextDelta("Hel"), TextDelta("lo"), ReplyEnded(), EntryStored(Entry(id="e", entry_type="message")))
    assert seen(place, DisplaySettings(), *whole, RoundEnd("answered", "r")) == ("Hello\n", "")
    assert seen(place, DisplaySettings(), TextDelta("Hello\n"), ReplyEnded()) == ("Hello\n", "")
    assert seen(place, DisplaySettings(), ReplyEnded(), RoundEnd("handed", "r")) == ("", "")


def test_two_replies_are_separated_by_one_newline(place: Path) -> None:
    tool = (ToolStarted("1", "get_tree", "."), ToolEnded("1", "get_tree", "a", failed=False))
    replies = (TextDelta("Looking."), ReplyEnded(), *tool, ReplyEnded(), TextDelta("Done."), ReplyEnded())
    assert seen(place, DisplaySettings(), *replies, TextDelta("half")) == ("Looking.\nDone.\nhalf\n", "")


def test_what_a_reply_has_cost_does_not_break_into_it(place: Path) -> None:
    cost = UsageReported("m", Usage(1, 2))
    with terminal() as glass:
        sink = make_view(glass.file, glass.file, display=DisplaySettings(verbose=True))
        for what in (TextDelta("Done: *al"), cost, TextDelta("l*"), ReplyEnded(), cost):
            sink.show(what)
        assert glass.text() == "Done: all\n[usage] m: 1 tokens in, 2 out\n[usage] m: 1 tokens in, 2 out\n"


def test_thoughts_are_shown_only_when_wanted_and_never_on_stdout(place: Path) -> None:
    thoughts = (ReasoningDelta("hm"), ReasoningDelta("m"), TextDelta("Yes"), ReasoningDelta("or not"))
    what = (*thoughts, ToolStarted("1", "t", ""))
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
        out = _out(file)
        err = StatusStream(glass.file, out)
        waiting = WaitIndicator(err, shown=True, clock=lambda: now[0])
        status = StatusLines(err, DisplaySettings(), colour=True, asks_here=True)
        sink = RoundView(PlainAnswer(out), PlainAnswer(err), status, waiting)

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
    stream = StringIO()
    with place.open("w") as file:
        make_view(file, stream, display=DisplaySettings()).break_line()
    assert stream.getvalue() == ""


def test_a_terminal_gets_rendered_or_plain_text_as_the_display_says() -> None:
    for display, expected in ((DisplaySettings(), False), (DisplaySettings(render_markdown=False), True)):
        with terminal() as glass:
            sink = make_view(glass.file, glass.file, display=display._replace(show_thinking=True))
            sink.show(ReasoningDelta("hm"))
            sink.show(TextDelta("**bold** \x1b[2J"))
            sink.close()
            shown = glass.text()
        assert ("**bold** \\x1b[2J\n" in shown) is expected
        assert "\x1b[2J" not in shown
        assert shown.endswith("\n")


def test_markdown_may_be_rendered_in_a_pipe(place: Path) -> None:
    with place.open("w") as file:
        sink = make_view(file, StringIO(), display=DisplaySettings(render_markdown=False), markdown=True)
        sink.show(TextDelta("**bold**"))
        sink.close()
    assert place.read_text() == "bold\n"


ALL: tuple[RoundEvent, ...] = (
    ToolStarted("1", "get_tree", "src \x1b[2J"),
    ToolEnded("1", "get_tree", "x" * 1234, failed=False),
    ToolEnded("2", "read_file", "ERROR: gone\nmore", failed=True),
    FuelStatus(3, 30, "after_tool_batch"),
    InboxInjected(2),
    RetryScheduled(2, 0.5, "status 503"),
    UsageReported("m", Usage(1200, 30, cached=1000, reasoning=10)),
    UsageReported("m", Usage(1, 2, estimated=True)),
)
ALWAYS: tuple[RoundEvent, ...] = (
    Notice("nothing confines a command"),
    Notice("nothing confines a command"),
    FuelExhausted(30),
    WindowWarning(1000, 8192),
    QuestionAsked("q", "edit", "edit_file"),
    QuestionAnswered("q", "yes"),
    ToolCalled("get_tree", "ok", 0.1),
)


def heard(
    happenings: tuple[RoundEvent, ...], display: DisplaySettings, *, colour: bool = False, here: bool = False
) -> str:
    with open(os.devnull, "w") as nowhere:
        stream = StringIO()
        asides = StatusLines(StatusStream(stream, _out(nowhere)), display, colour=colour, asks_here=here)
        for one in happenings:
            asides.handle(one)
        return stream.getvalue()


def test_fuel_that_empty_replies_have_used_up_is_told_as_such() -> None:
    spent = (FuelStatus(30, 30, "entering_turn"), FuelStatus(15, 30, "empty_response"))
    told = heard((*spent, FuelStatus(0, 30, "empty_response"), FuelExhausted(30)), DisplaySettings())
    assert told.startswith("marid: out of fuel: the model returned only empty answers")
    told = heard((*spent, FuelStatus(14, 30, "after_tool_batch"), FuelExhausted(30)), DisplaySettings())
    assert told.startswith("marid: out of fuel: 30 requests in one round")


def _out(stream: object) -> AnswerStream:
    return AnswerStream(stream, SignalGuard(), lambda: None)  # pyright: ignore[reportArgumentType] - any file


def test_by_default_only_what_matters_is_said_and_once() -> None:
    assert heard(ALL, DisplaySettings()) == ""
    lines = heard(ALWAYS, DisplaySettings()).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["marid"] * 4
    assert "nothing confines" in lines[0]
    assert "fuel" in lines[1]
    assert "1,000 of 8,192 tokens" in lines[2]
    assert "marid approvals" in lines[3]
    assert "approvals" not in heard(ALWAYS, DisplaySettings(), here=True)


def test_verbose_tells_everything_and_nothing_of_it_moves_the_cursor() -> None:
    assert heard(ALL, DisplaySettings(verbose=True)).splitlines() == [
        "[get_tree] src \\x1b[2J",
        "[get_tree] 1,234 characters",
        "[read_file] failed: ERROR: gone",
        "[fuel] 3 of 30 left",
        "[inbox] 2 messages",
        "[attempt 2] in 0.5 s: status 503",
        "[usage] m: 1,200 tokens in (1,000 cached), 30 out (10 reasoning)",
        "[usage] m: about 1 tokens in, about 2 out",
    ]


def test_tool_calls_can_be_hidden_from_verbose() -> None:
    lines = heard(ALL, DisplaySettings(verbose=True, hide_tool_calls=True)).splitlines()
    assert [line.split()[0] for line in lines] == ["[fuel]", "[inbox]", "[attempt", "[usage]", "[usage]"]


def test_one_is_not_several_and_long_lines_are_cut() -> None:
    display = DisplaySettings(verbose=True)
    assert heard((InboxInjected(1), ToolEnded("1", "t", "x", failed=False)), display) == (
        "[inbox] 1 message\n[t] 1 character\n"
    )
    assert len(heard((ToolStarted("1", "run_shell", "x" * 5000),), display)) < 400
    assert heard((InboxInjected(1),), display, colour=True) == "\x1b[2m[inbox] 1 message\x1b[0m\n"


def test_a_line_does_not_begin_in_the_middle_of_the_answer() -> None:
    with terminal() as glass:
        out = _out(glass.file)
        err = StatusStream(glass.file, out)
        out.write("half a line")
        err.write("aside\n")
        err.write("another\n")
        assert glass.text() == "half a line\naside\nanother\n"
        assert err.width == DEFAULT_WIDTH


def test_a_pipe_is_not_broken_by_what_is_said_besides(tmp_path: Path) -> None:
    with terminal() as glass, (tmp_path / "answer").open("w") as pipe:
        out = _out(pipe)
        out.write("half")
        StatusStream(glass.file, out).write("aside\n")
        assert glass.text() == "aside\n"
    assert (tmp_path / "answer").read_text() == "half"


def test_who_closed_stderr_hears_nothing(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    stream = open(writer, "w")  # noqa: SIM115 - its close fails, too
    StatusStream(stream, _out(stream)).write("aside\n")
    with pytest.raises(BrokenPipeError):
        stream.close()


def test_what_stderr_cannot_encode_is_escaped(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w", encoding="ascii") as stream:
        StatusStream(stream, _out(stream)).write("ü\udcff\n")
    assert (tmp_path / "err").read_text() == "\\xfc\\udcff\n"


def test_the_waiting_line_counts_and_goes_away() -> None:
    now = [100.0]
    with terminal() as glass:
        waiting = WaitIndicator(StatusStream(glass.file, _out(glass.file)), shown=True, clock=lambda: now[0])
        waiting.tick()
        waiting.begin()
        waiting.tick()
        assert glass.text() == ""
        now[0] += 3
        waiting.tick()
        assert glass.text() == "\r\x1b[Kwaiting for the model, 3 s"
        waiting.end()
        waiting.end()
        waiting.tick()
        assert glass.text() == "\r\x1b[K"


def test_the_waiting_line_stays_one_line() -> None:
    now = [0.0]
    with terminal() as glass:
        waiting = WaitIndicator(StatusStream(glass.file, _out(glass.file)), shown=True, clock=lambda: now[0])
        waiting.begin(5, "why\n\x1b[2J " * 50)
        now[0] += 2
        waiting.tick()
        shown = glass.text().removeprefix("\r\x1b[K")
        now[0] += 5
        waiting.tick()
        assert glass.text() == "\r\x1b[Kwaiting for the model, 7 s"
        waiting.begin(0.34, "why")
        waiting.tick()
        assert glass.text().endswith("\r\x1b[Kretrying in 0.3 s: why")
    assert shown.startswith("retrying in 3 s: why")
    assert len(shown) == DEFAULT_WIDTH - 1
    assert shown.isprintable()


def test_without_a_terminal_nothing_waits_visibly() -> None:
    stream = StringIO()
    with open(os.devnull, "w") as nowhere:
        waiting = WaitIndicator(StatusStream(stream, _out(nowhere)), shown=False, clock=lambda: 0.0)
        waiting.begin()
        anyio.run(waiting.run)  # ends at once
        waiting.tick()
    assert stream.getvalue() == ""


def test_the_waiting_line_is_kept_up_to_date_until_cancelled() -> None:
    now = [0.0]

    class Heard(StringIO):
        told = anyio.Event()

        def write(self, text: str) -> int:
            self.told.set()
            return super().write(text)

    stream = Heard()

    async def watch(waiting: WaitIndicator) -> None:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(waiting.run)
                await stream.told.wait()
                group.cancel_scope.cancel()

    with open(os.devnull, "w") as nowhere:
        waiting = WaitIndicator(StatusStream(stream, _out(nowhere)), shown=True, clock=lambda: now[0])
        waiting.begin()
        now[0] += 9
        anyio.run(watch, waiting)
    assert "waiting for the model, 9 s" in stream.getvalue()
