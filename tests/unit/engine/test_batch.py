"""Calls of one reply: which run at once, in which order results are stored, and what a break-off leaves."""

import threading
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from fakes.model import FakeModel, answer
from fakes.rounds import EventModel, RoundHarness, finish_with, gate, look, poke, tool_call
from marid.core.conversation.entry import (
    FAILED,
    FLOW_CALL,
    FLOW_RESULT,
    INTERRUPTED,
    TO_AGENT,
    TO_USER,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_STARTED,
    Entry,
)
from marid.core.errors import Unavailable
from marid.core.model_io import Text, ToolCall
from marid.core.policy.approval import ApprovalAnswer
from marid.core.policy.policy import Effect
from marid.core.round_events import EntryStored, RoundEnd, RoundEvent, ToolEnded, ToolStarted
from marid.engine.batch import MAX_CALLS, summarize_args
from marid.engine.round_entries import NOT_CALLED, OUTCOME_UNKNOWN
from marid.engine.steps import LOOP_WARNING
from marid.ports.model import OnModelEvent
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import ToolSpec, tool


def calls(*made: ToolCall) -> FakeModel:
    """A model that makes these calls, and is done."""
    return FakeModel(answer(*made), answer("Done."))


def results(talk: RoundHarness) -> list[tuple[str, str]]:
    return [(entry.tool_call_id, entry.content) for entry in talk.entries if entry.entry_type == TOOL_RESULT]


def meeting(count: int) -> ToolSpec:
    """A tool whose calls end only when so many of them run."""
    here: list[anyio.Event] = []

    @tool(family="files", effect=Effect.READ)
    async def meet(name: str = "") -> ToolOutput:
        """Wait for the others."""
        here.append(anyio.Event())
        if len(here) == count:
            for one in here:
                one.set()
        await here[-1].wait()
        return ToolOutput(text=f"met {name}")

    return meet


def test_reads_run_at_once_and_their_results_stand_in_call_order(tmp_path: Path) -> None:
    made = [tool_call("meet", f'{{"name": "{n}"}}', f"c{n}") for n in range(4)]
    talk = RoundHarness(tmp_path, calls(*made), meeting(4))
    talk.say("go")
    assert talk.types == ["message", *[TOOL_CALL] * 4, *[TOOL_RESULT] * 4, "message"]
    assert results(talk) == [(f"c{n}", f"met {n}") for n in range(4)]


def test_what_has_effects_runs_one_after_another_after_what_has_none(tmp_path: Path) -> None:
    log: list[str] = []

    @tool(family="runtime", effect=Effect.META)
    async def change(name: str) -> ToolOutput:
        """Change."""
        log.append(f"{name} begins")
        await anyio.lowlevel.checkpoint()
        log.append(f"{name} ends")
        return ToolOutput(text=name)

    @tool(family="files", effect=Effect.READ)
    def read() -> ToolOutput:
        """Read."""
        log.append("read")
        return ToolOutput(text="r")

    made = [
        tool_call("change", '{"name": "a"}', "1"),
        tool_call("change", '{"name": "b"}', "2"),
        tool_call("read", id="3"),
    ]
    talk = RoundHarness(tmp_path, calls(*made), change, read)
    talk.say("go")
    assert log == ["read", "a begins", "a ends", "b begins", "b ends"]
    assert results(talk) == [("1", "a"), ("2", "b"), ("3", "r")]


def test_only_what_has_effects_is_marked_as_started_and_before_its_result(tmp_path: Path) -> None:
    talk = RoundHarness(
        tmp_path, calls(tool_call("look", id="1"), tool_call("poke", id="2"), tool_call("call_user", id="3"))
    )
    talk.say("go")
    assert talk.types[4:] == [TOOL_RESULT, TOOL_STARTED, TOOL_RESULT, FLOW_RESULT]
    assert [entry.tool_call_id for entry in talk.entries if entry.entry_type == TOOL_STARTED] == ["2"]


def test_a_mark_that_cannot_be_stored_keeps_the_deed_from_happening(tmp_path: Path) -> None:
    wait, count = gate()
    talk = RoundHarness(tmp_path, calls(tool_call("wait")), wait)
    append = talk.conversation.append

    def full(entries: list[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        if entries[0].entry_type == TOOL_STARTED:
            talk.conversation.close()
        return append(entries, expected)

    talk.conversation.append = full  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(Unavailable, match="closed"):
        talk.say("go")
    assert count() == 0


def test_results_of_reads_that_cannot_be_stored_end_the_round(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, calls(tool_call("look", id="1"), tool_call("look", id="2")))
    append = talk.conversation.append

    def full(entries: list[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        if entries[0].entry_type == TOOL_RESULT:
            talk.conversation.close()
        return append(entries, expected)

    talk.conversation.append = full  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(Unavailable, match="closed"):
        talk.say("go")


def test_unparsable_arguments_unknown_tools_and_failures_are_results_that_name_the_cause(tmp_path: Path) -> None:
    made = [tool_call("look", '{"path":', "1"), tool_call("lok", id="2"), tool_call("look", '{"pat": 1}', "3")]
    talk = RoundHarness(tmp_path, calls(*made))
    assert talk.say("go").reason == "answered"
    texts = [text for _, text in results(talk)]
    assert [text.startswith("ERROR: ") for text in texts] == [True] * 3
    assert "not a JSON object" in texts[0]
    assert "did you mean 'look'" in texts[1]
    assert "no parameter is called 'pat'" in texts[2]
    assert [entry.status for entry in talk.entries if entry.entry_type == TOOL_RESULT] == [FAILED] * 3
    assert [what.failed for what in talk.heard_of(ToolEnded)] == [True] * 3


def test_a_person_sees_what_a_call_is_about(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, calls(tool_call("look", '{"path": "a  b"}')))
    talk.say("go")
    (started,), (ended,) = talk.heard_of(ToolStarted), talk.heard_of(ToolEnded)
    call = talk.entries[1].id
    assert started == ToolStarted("c1", "look", "a b", call)
    assert ended == ToolEnded("c1", "look", "saw a  b", failed=False, seconds=ended.seconds, call=call)
    assert ended.seconds > 0
    assert summarize_args({"command": "x" * 200, "other": "y", "path": 3}) == "x" * 117 + "..."


def test_a_result_is_of_bearable_size(tmp_path: Path) -> None:
    @tool(family="files", effect=Effect.READ)
    def shout() -> ToolOutput:
        """Shout."""
        return ToolOutput(text="x" * 1_000_000)

    talk = RoundHarness(tmp_path, calls(tool_call("shout")), shout)
    talk.say("go")
    assert len(results(talk)[0][1]) < 65_536
    assert "left out" in results(talk)[0][1]


def test_the_third_reply_with_the_same_is_warned_of(tmp_path: Path) -> None:
    replies = [answer(tool_call("look", id=f"a{number}"), tool_call("look", id=f"b{number}")) for number in range(4)]
    talk = RoundHarness(tmp_path, FakeModel(*replies, answer("Done.")))
    talk.say("go")
    assert [text.endswith(LOOP_WARNING) for _, text in results(talk)] == [False] * 4 + [True] * 4


def test_the_same_call_many_times_in_one_reply_is_no_loop(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, calls(*(tool_call("look", id=str(number)) for number in range(9))))
    assert talk.say("go").reason == "answered"
    assert not any(text.endswith(LOOP_WARNING) for _, text in results(talk))


def _broken_off(talk: RoundHarness, begun: anyio.Event) -> None:
    """Say something, and cancel when the tool has begun."""

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(talk.play, "go")
            await begun.wait()
            group.cancel_scope.cancel()

    anyio.run(main)


def _hanging() -> tuple[ToolSpec, anyio.Event]:
    begun = anyio.Event()

    @tool(family="runtime", effect=Effect.META)
    async def hang() -> ToolOutput:
        """Hang."""
        begun.set()
        await anyio.sleep_forever()
        return ToolOutput(text="")

    return hang, begun


def test_cancelling_gives_every_call_a_result_and_keeps_those_that_there_are(tmp_path: Path) -> None:
    hang, begun = _hanging()
    made = [tool_call("hang", id="1"), tool_call("look", id="2"), tool_call("poke", id="3")]
    talk = RoundHarness(tmp_path, calls(*made), hang, look, poke)
    _broken_off(talk, begun)
    assert results(talk) == [("1", OUTCOME_UNKNOWN), ("2", "saw ."), ("3", NOT_CALLED)]
    statuses = [entry.status for entry in talk.entries if entry.entry_type == TOOL_RESULT]
    assert statuses == [INTERRUPTED, "ok", INTERRUPTED]


def test_a_result_is_stored_once_when_whoever_hears_of_it_fails(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, calls(tool_call("look", id="1"), tool_call("poke", id="2")))

    class Deaf(list[RoundEvent]):
        def append(self, what: RoundEvent) -> None:
            super().append(what)
            if isinstance(what, EntryStored) and what.entry.entry_type == TOOL_RESULT:
                raise Unavailable("nobody hears this")

    talk.heard = Deaf()
    with pytest.raises(Unavailable, match="nobody hears"):
        talk.say("go")
    assert results(talk) == [("1", "saw ."), ("2", NOT_CALLED)]


def test_what_broke_off_is_stored_however_long_the_disk_takes(tmp_path: Path) -> None:
    hang, begun = _hanging()
    talk = RoundHarness(tmp_path, calls(tool_call("hang", id="1")), hang)
    append = talk.conversation.append

    def slowly(entries: Sequence[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        if entries[0].entry_type == TOOL_RESULT:
            threading.Event().wait(0.7)
        return append(entries, expected)

    talk.conversation.append = slowly
    _broken_off(talk, begun)
    assert results(talk) == [("1", OUTCOME_UNKNOWN)]


@pytest.mark.parametrize("name", [TO_USER, TO_AGENT])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_handing_over_beside_other_calls_keeps_calls_before_results_and_their_order(
    tmp_path: Path, name: str, place: int
) -> None:
    made = [tool_call("poke", id="a"), tool_call("look", id="b")]
    made.insert(place, tool_call(name, '{"prompt": "more"}' if name == TO_AGENT else "{}", "flow"))
    talk = RoundHarness(tmp_path, FakeModel(answer(*made), answer("Done."), answer("More.")))
    talk.say("go")
    entries = [entry for entry in talk.entries if entry.tool_call_id and entry.entry_type != TOOL_STARTED]
    assert [entry.tool_call_id for entry in entries] == [call.id for call in made] * 2
    assert [entry.entry_type in (TOOL_RESULT, FLOW_RESULT) for entry in entries] == [False] * 3 + [True] * 3
    assert [entry.entry_type for entry in entries].index(FLOW_RESULT) == 3 + place


@pytest.mark.parametrize("names", [(TO_USER, TO_AGENT), (TO_AGENT, TO_USER)])
def test_who_ends_the_round_and_goes_on_in_one_reply_ends_it_and_is_told_so(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    arguments = {TO_USER: '{"message": "Yours."}', TO_AGENT: '{"prompt": "more"}'}
    talk = RoundHarness(tmp_path, FakeModel(answer(*(tool_call(name, arguments[name], name) for name in names))))
    assert talk.say("go") == RoundEnd("handed", "r1", "Yours.")
    told = {entry.sender: entry.content for entry in talk.entries if entry.entry_type == FLOW_RESULT}
    assert tuple(told) == names
    assert told[TO_USER] == "The round ends here, with your message to the user."
    assert told[TO_AGENT] == "ERROR: not called: call_user in the same reply ends the round"


def test_a_handoff_to_the_user_that_stood_before_a_crash_counts_too(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, FakeModel())
    talk.append(
        Entry(entry_type="message", content="go", role="user", round="r0"),
        Entry(entry_type=FLOW_CALL, content='{"message": "Yours."}', to=TO_USER, tool_call_id="1", round="r0"),
        Entry(entry_type=FLOW_CALL, content='{"prompt": "more"}', to=TO_AGENT, tool_call_id="2", round="r0"),
        Entry(entry_type=FLOW_RESULT, content="ended", sender=TO_USER, tool_call_id="1", round="r0"),
    )
    assert talk.say().text == "Yours."
    assert talk.entries[-1].content.startswith("ERROR: not called")


def test_a_handoff_to_the_user_that_fails_does_not_keep_the_model_from_going_on(tmp_path: Path) -> None:
    replies = answer(tool_call(TO_USER, '{"message": 3}', "1"), tool_call(TO_AGENT, '{"prompt": "more"}', "2"))
    talk = RoundHarness(tmp_path, FakeModel(replies, answer("a"), answer("b")))
    assert talk.say("go") == RoundEnd("answered", "r1", "b")


def test_a_call_without_a_name_is_told_that_it_has_none(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, calls(tool_call("", id="1")))
    talk.say("go")
    assert results(talk) == [("1", "ERROR: not called: the call names no tool")]


def test_a_call_that_had_begun_is_not_made_again_and_one_that_had_not_is(tmp_path: Path) -> None:
    wait, count = gate()
    talk = RoundHarness(tmp_path, FakeModel(answer("Fine.")), wait)
    talk.append(
        Entry(entry_type="message", content="go", role="user", round="r0"),
        Entry(entry_type=TOOL_CALL, content="{}", to="wait", tool_call_id="1", round="r0"),
        Entry(entry_type=TOOL_CALL, content='{"name": "b"}', to="wait", tool_call_id="2", round="r0"),
        Entry(entry_type=TOOL_STARTED, to="wait", tool_call_id="1", round="r0"),
    )
    assert talk.say().text == "Fine."
    assert count() == 1
    assert results(talk) == [("1", OUTCOME_UNKNOWN), ("2", "waited b")]
    assert {entry.round for entry in talk.entries} == {"r0"}


def test_a_question_that_was_answered_is_not_asked_again_after_a_crash(tmp_path: Path) -> None:
    """The approval is bound to the entry of the call, which no other call has."""

    @tool(family="runtime", effect=Effect.SPAWN)
    def spawn() -> ToolOutput:
        """Begin something."""
        return ToolOutput(text="spawned")

    class Noting:
        def __init__(self) -> None:
            self.ids: list[str] = []

        async def ask(self, question: object) -> ApprovalAnswer | None:
            self.ids.append(str(getattr(question, "id")))  # noqa: B009 - any question has one
            return ApprovalAnswer.YES

    asked = Noting()
    talk = RoundHarness(tmp_path, calls(tool_call("spawn", id="same")), spawn)
    talk.asker = asked
    talk.say("go")
    talk.model = calls(tool_call("spawn", id="same"))
    talk.say("again")
    assert len(set(asked.ids)) == 2


def test_a_bug_in_the_model_leaves_a_whole_history(tmp_path: Path) -> None:
    class Buggy(EventModel):
        async def stream(self, request: object, on_event: OnModelEvent) -> None:
            await on_event(finish_with("stop", Text(text="Half"))[0])
            raise ZeroDivisionError

    talk = RoundHarness(tmp_path, Buggy())
    with pytest.raises(ZeroDivisionError):
        talk.say("go")
    assert [(entry.content[-4:], entry.status) for entry in talk.entries[1:]] == [("Half", FAILED)]


def test_a_reply_with_too_many_calls_has_the_first_of_them_made(tmp_path: Path) -> None:
    made = [tool_call("look", f'{{"path": "{number}"}}', str(number)) for number in range(MAX_CALLS + 2)]
    talk = RoundHarness(tmp_path, calls(*made))
    talk.say("go")
    assert [text for _, text in results(talk)][MAX_CALLS - 1 :] == ["saw 99", *[results(talk)[-1][1]] * 2]
    assert results(talk)[-1][1].startswith("ERROR: not called")


def test_a_failure_is_of_bearable_size_too(tmp_path: Path) -> None:
    @tool(family="files", effect=Effect.READ)
    def shout() -> ToolOutput:
        """Fail loudly."""
        raise Unavailable("x" * 1_000_000)

    talk = RoundHarness(tmp_path, calls(tool_call("shout")), shout)
    talk.say("go")
    assert len(results(talk)[0][1]) <= 65_536
