"""Rounds: whose turn it is, what it costs, and what is left when something breaks."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from fakes.model import FakeModel, answer
from fakes.rounds import EventModel, RoundHarness, finish_with, look, poke, tool_call
from marid.core.conversation.entry import (
    FAILED,
    FLOW_CALL,
    FLOW_RESULT,
    INTERRUPTED,
    STOPPED,
    TO_AGENT,
    TO_USER,
    TOOL_CALL,
    TOOL_RESULT,
    Entry,
)
from marid.core.conversation.records import InboxMessage as Mail
from marid.core.errors import Exhausted, Unavailable
from marid.core.model_io import Finished, Message, ModelRequest, Text, TextDelta, ToolCall, ToolResult
from marid.core.policy.policy import Effect
from marid.core.round_events import (
    FuelExhausted,
    FuelStatus,
    InboxInjected,
    ReplyEnded,
    RoundEnd,
    RoundEvent,
    UsageReported,
    WindowWarning,
)
from marid.core.settings.values import make_settings
from marid.engine.loop import MAX_EMPTY_REPLIES
from marid.engine.round_entries import OUTCOME_UNKNOWN
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool

EMPTY = answer()


def to_user(message: str) -> ToolCall:
    return tool_call("call_user", f'{{"message": "{message}"}}', "u")


def to_agent(prompt: str, id: str = "a") -> ToolCall:
    return tool_call("call_agent", f'{{"prompt": "{prompt}"}}', id)


def test_an_answer_ends_the_round(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, FakeModel(answer("Hel", "lo")))
    assert talk.say("hi") == RoundEnd("answered", "r1", "Hello")
    assert talk.words() == ["hi", "Hello"]
    assert {entry.round for entry in talk.entries} == {"r1"}
    assert talk.heard_of(TextDelta) == [TextDelta("Hel"), TextDelta("lo")]
    assert len(talk.heard_of(ReplyEnded)) == len(talk.heard_of(UsageReported)) == 1
    request = talk.model.asked[0]
    assert request.messages[0].text.endswith("] hi")
    assert [tool.name for tool in request.tools] == ["look", "poke", "call_agent", "call_user"]


def test_text_beside_tool_calls_is_stored_before_them_and_sent_back(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, FakeModel(answer("Let me look.", tool_call("look")), answer("So.")))
    assert talk.say("hi").text == "So."
    assert talk.types == ["message", "message", TOOL_CALL, TOOL_RESULT, "message"]
    user, assistant, tool = talk.model.asked[1].messages
    assert user.role == "user"
    assert assistant.parts == (Text(text="Let me look."), tool_call("look"))
    assert tool.parts == (ToolResult(call_id="c1", name="look", text="saw ."),)


def test_call_user_ends_the_round_at_once_and_its_message_is_part_of_the_answer(tmp_path: Path) -> None:
    model = FakeModel(answer("So.", tool_call("poke"), to_user("Your turn.")))
    talk = RoundHarness(tmp_path, model)
    assert talk.say("hi") == RoundEnd("handed", "r1", "So.\n\nYour turn.")
    assert len(model.asked) == 1
    assert talk.heard_of(TextDelta) == [TextDelta("So."), TextDelta("Your turn.")]
    assert [entry.content for entry in talk.entries if entry.entry_type == TOOL_RESULT] == ["poked it"]
    assert [kind for kind in talk.types if kind in (FLOW_CALL, FLOW_RESULT)] == [FLOW_CALL, FLOW_RESULT]


def test_call_agent_takes_effect_when_text_arrives(tmp_path: Path) -> None:
    model = FakeModel(answer(to_agent("and then?")), answer("First."), answer("Second."))
    talk = RoundHarness(tmp_path, model)
    assert talk.say("hi") == RoundEnd("answered", "r1", "Second.")
    tool = model.asked[1].messages[-1]
    assert tool.role == "tool"
    *_, first, again, second = talk.entries
    assert (first.content, second.content) == ("First.", "Second.")
    assert again.content.endswith("\nand then?")
    assert (again.sender, again.role) == ("system", "user")
    assert "28 of 30" in again.content
    assert talk.heard_of(FuelStatus)[-1] == FuelStatus(28, 30, "after_continuation", "and then?")


def test_messages_that_came_meanwhile_stand_before_what_the_model_goes_on_with(tmp_path: Path) -> None:
    model = FakeModel(answer(to_agent("and then?")), answer("First."), answer("Second."))
    talk = RoundHarness(tmp_path, model, fallback=TO_USER)
    begun = talk.conversation.append

    def sending(entries: Sequence[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        if entries[0].entry_type == FLOW_RESULT:
            talk.home.inbox.send(Mail("bob", "talk", "Look out!"))
        return begun(entries, expected)

    talk.conversation.append = sending
    talk.say("hi")
    again = model.asked[2].messages[-1]
    assert again.text.startswith("--- INBOX MESSAGES ---\n[From: bob] Look out!\n--- END INBOX ---\n\n[It is your")
    assert again.user_text == "and then?"
    assert talk.home.inbox.peek("talk") == ()
    assert talk.heard_of(InboxInjected) == [InboxInjected(1)]
    assert talk.entries[-2].metadata["inbox"]


def test_the_last_explicit_handoff_wins(tmp_path: Path) -> None:
    model = FakeModel(answer(to_agent("one")), answer(to_agent("two", "b")), answer("x"), answer("y"))
    talk = RoundHarness(tmp_path, model)
    talk.say("hi")
    assert [entry.content.splitlines()[1] for entry in talk.entries if entry.sender == "system"] == ["two"]


def test_an_answer_and_what_follows_it_are_one_append(tmp_path: Path) -> None:
    """Whatever dies in between, the model does not go on twice and does not stop too early."""
    talk = RoundHarness(tmp_path, FakeModel(answer("First."), answer(to_user(""))), fallback=TO_AGENT)
    sizes: list[int] = []
    append = talk.conversation.append

    def counting(entries: list[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        sizes.append(len(entries))
        return append(entries, expected)

    talk.conversation.append = counting  # pyright: ignore[reportAttributeAccessIssue]
    assert talk.say("hi").reason == "handed"
    assert sizes[:2] == [1, 2]


def test_fuel_allows_so_many_requests(tmp_path: Path) -> None:
    model = FakeModel(*(answer("On.", tool_call("look", f'{{"path": "{n}"}}')) for n in range(5)))
    talk = RoundHarness(tmp_path, model, settings=make_settings(fuel=3))
    assert talk.say("hi") == RoundEnd("fuel", "r1", "On.")
    assert len(model.asked) == 3
    assert talk.heard_of(FuelExhausted) == [FuelExhausted(3)]
    assert [(what.remaining, what.event) for what in talk.heard_of(FuelStatus)] == [
        (3, "entering_turn"),
        (2, "after_tool_batch"),
        (1, "after_tool_batch"),
        (0, "after_tool_batch"),
    ]
    assert talk.types[-1] == TOOL_RESULT


def test_the_last_request_may_be_the_answer(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, FakeModel(answer("Yes.")), settings=make_settings(fuel=1))
    assert talk.say("hi").reason == "answered"
    assert talk.heard_of(FuelExhausted) == []


def test_without_fuel_a_model_does_not_go_on(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, FakeModel(answer("Yes.")), settings=make_settings(fuel=1), fallback=TO_AGENT)
    assert talk.say("hi") == RoundEnd("fuel", "r1", "Yes.")
    assert talk.words() == ["hi", "Yes."]


def test_an_empty_reply_costs_more_and_the_same_request_is_made_again(tmp_path: Path) -> None:
    model = FakeModel(EMPTY, answer(" \n"), answer("never"))
    talk = RoundHarness(tmp_path, model, settings=make_settings(fuel=30, fuel_empty_response_cost=15))
    assert talk.say("hi") == RoundEnd("fuel", "r1")
    assert model.asked[0] == model.asked[1]
    assert [(what.remaining, what.event) for what in talk.heard_of(FuelStatus)][1:] == [
        (15, "empty_response"),
        (0, "empty_response"),
    ]
    assert talk.words() == ["hi"]


def test_without_a_limit_there_is_no_word_of_fuel_and_silence_ends_the_round(tmp_path: Path) -> None:
    model = FakeModel(EMPTY, EMPTY, answer(tool_call("look")), *[EMPTY] * 9)
    talk = RoundHarness(tmp_path, model, settings=make_settings(fuel=0))
    assert talk.say("hi") == RoundEnd("empty", "r1")
    assert len(model.asked) == 3 + MAX_EMPTY_REPLIES
    assert talk.heard_of(FuelStatus) == []
    assert model.asked[0].system == "fuel None"


def test_empty_replies_that_cost_nothing_end_the_round_as_well(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, FakeModel(*[EMPTY] * 9), settings=make_settings(fuel=5, fuel_empty_response_cost=0))
    assert talk.say("hi").reason == "empty"


def test_a_continuation_without_a_limit_has_no_fuel_numbers(tmp_path: Path) -> None:
    model = FakeModel(answer("a"), answer(to_user("")))
    talk = RoundHarness(tmp_path, model, settings=make_settings(fuel=0), fallback=TO_AGENT)
    talk.say("hi")
    assert "fuel" not in talk.words()[-1]


def test_the_same_call_again_and_again_ends_the_round(tmp_path: Path) -> None:
    model = FakeModel(*(answer(tool_call("look")) for _ in range(9)))
    talk = RoundHarness(tmp_path, model, settings=make_settings(fuel=0))
    assert talk.say("hi").reason == "loop"
    assert len(model.asked) == 6


def test_a_loop_that_has_used_up_the_fuel_is_told_as_that(tmp_path: Path) -> None:
    model = FakeModel(*(answer(tool_call("look")) for _ in range(9)))
    talk = RoundHarness(tmp_path, model, settings=make_settings(fuel=6))
    assert talk.say("hi").reason == "fuel"
    assert talk.heard_of(FuelExhausted) == [FuelExhausted(6)]


def test_the_system_prompt_stays_while_tools_are_at_work(tmp_path: Path) -> None:
    model = FakeModel(answer(tool_call("look")), answer(to_agent("on")), answer("a"), answer("b"))
    talk = RoundHarness(tmp_path, model)
    talk.say("hi")
    assert [request.system for request in model.asked] == [*["fuel (30, 30)"] * 3, "fuel (27, 30)"]


def test_warnings_use_the_conversations_own_limit(tmp_path: Path) -> None:
    model = FakeModel(answer(tool_call("look")), answer("Yes."), window=100_000)
    talk = RoundHarness(tmp_path, model, settings=make_settings(context_window_limit=200, warn_threshold_percent=1.0))
    talk.say("hi")
    (warning,) = talk.heard_of(WindowWarning)
    assert warning.limit == 200


def test_a_full_window_ends_the_round_before_the_request(tmp_path: Path) -> None:
    model = FakeModel(answer("never"), window=100)
    talk = RoundHarness(tmp_path, model)
    with pytest.raises(Exhausted, match="Run `marid clear`"):
        talk.say("x" * 1000)
    assert model.asked == []


@pytest.mark.parametrize("answered", [[TextDelta("x")], finish_with("error", Text(text="x"))])
def test_an_answer_without_a_proper_end_is_a_failure(tmp_path: Path, answered: list[TextDelta]) -> None:
    talk = RoundHarness(tmp_path, EventModel(answered))
    with pytest.raises(Unavailable):
        talk.say("hi")
    assert talk.entries[-1].status == FAILED


@pytest.mark.parametrize("reason", ["length", "filtered"])
def test_an_answer_that_the_provider_cuts_is_kept_and_says_so(tmp_path: Path, reason: str) -> None:
    play = finish_with(reason, Text(text="Half"))  # pyright: ignore[reportArgumentType]
    talk = RoundHarness(tmp_path, EventModel(play))
    assert talk.say("hi") == RoundEnd(reason, "r1", "Half")  # pyright: ignore[reportArgumentType]
    assert (talk.entries[-1].status, talk.entries[-1].metadata) == (STOPPED, {"finish": reason})
    assert talk.say() == RoundEnd("nothing", "r1")
    bare = RoundHarness(tmp_path, EventModel(finish_with(reason)))  # pyright: ignore[reportArgumentType]
    assert bare.say("hi") == RoundEnd(reason, "r1")  # pyright: ignore[reportArgumentType]
    assert len(bare.model.asked) == 1


def test_calls_of_an_answer_that_was_cut_are_made_all_the_same(tmp_path: Path) -> None:
    cut = Finished("length", Message(role="assistant", parts=(tool_call("look", '{"path"'),)))
    talk = RoundHarness(tmp_path, EventModel([cut], finish_with("stop", Text(text="Sorry."))))
    assert talk.say("hi").text == "Sorry."


def test_calls_that_nobody_will_make_get_a_result_when_the_store_fails_in_between(tmp_path: Path) -> None:
    """The history is looked at after the calls were stored; there the round breaks."""
    talk = RoundHarness(tmp_path, FakeModel(answer(tool_call("poke"))), poke)
    window, looks = talk.conversation.window, [0]

    def failing() -> tuple[Entry, ...]:
        looks[0] += 1
        if looks[0] == 3:
            raise ZeroDivisionError
        return window()

    talk.conversation.window = failing
    with pytest.raises(ZeroDivisionError):
        talk.say("hi")
    assert talk.entries[-1].status == INTERRUPTED


class Killed(BaseException):
    """Nothing runs after this."""


class Mortal:
    """Dies with the append of that number, before or after it is on the disk, and answers to nothing from then on."""

    def __init__(self, talk: RoundHarness, at: int, *, stored: bool) -> None:
        self._append = talk.conversation.append
        self._at = at
        self._stored = stored
        talk.conversation.append = self  # pyright: ignore[reportAttributeAccessIssue]

    def __call__(self, entries: list[Entry], expected: int | None = None) -> tuple[Entry, ...]:
        self._at -= 1
        if self._at > 0:
            return self._append(entries, expected)
        if self._at == 0 and self._stored:
            self._append(entries, expected)
        raise Killed


def diligent(request: ModelRequest) -> Message:
    """Three rounds of a look and two deeds, then an answer: which of them is due is told by the history."""
    done = sum(message.role == "tool" for message in request.messages)
    if done == 3:
        return answer("Done.")
    deeds = [tool_call("deed", f'{{"name": "{done}{letter}"}}', f"{letter}") for letter in "ab"]
    return answer(f"Part {done}.", tool_call("look", id="l"), *deeds)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("at", range(1, 22))
def test_wherever_it_is_killed_no_deed_happens_twice_and_the_round_comes_to_its_end(
    tmp_path: Path, at: int, stored: bool
) -> None:
    deeds: list[str] = []

    @tool(family="runtime", effect=Effect.META)
    def deed(name: str) -> ToolOutput:
        """Do it."""
        deeds.append(name)
        return ToolOutput(text=f"did {name}")

    talk = RoundHarness(tmp_path, FakeModel(*[diligent] * 9), deed, look)
    whole = talk.conversation.append
    Mortal(talk, at, stored=stored)
    try:
        talk.say("go")
        died = False
    except (Killed, BaseExceptionGroup):
        died = True
    talk.conversation.append = whole
    if talk.entries == []:
        talk.append(Entry(entry_type="message", content="go", role="user"))
    assert died is (at <= 20)
    assert talk.say().reason in ("answered", "nothing")
    assert talk.words()[-1] == "Done."
    assert len(deeds) == len(set(deeds))
    unsure = [entry for entry in talk.entries if entry.content == OUTCOME_UNKNOWN]
    assert len(unsure) <= 1
    assert 6 - len(unsure) <= len(deeds) <= 6


def test_a_slow_listener_of_one_round_does_not_delay_another_round(tmp_path: Path) -> None:
    slow, quick = (RoundHarness(tmp_path, FakeModel(answer(tool_call("look")), answer("Done."))) for _ in range(2))

    async def main() -> None:
        reached, opened = anyio.Event(), anyio.Event()

        async def wait(what: RoundEvent) -> None:
            reached.set()
            await opened.wait()
            slow.heard.append(what)

        slow.emit = wait
        ends: list[str] = []

        async def run(talk: RoundHarness) -> None:
            ends.append((await talk.play("go")).text)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(run, slow)
                await reached.wait()
                await run(quick)
                assert (ends, slow.heard) == (["Done."], [])
                opened.set()
        assert ends == ["Done.", "Done."]

    anyio.run(main)
    assert [type(what) for what in slow.heard] == [type(what) for what in quick.heard]


def test_a_listener_that_fails_ends_the_round_and_what_came_is_stored(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, FakeModel(answer("Half of it.")))

    async def fail(what: RoundEvent) -> None:
        if isinstance(what, TextDelta):
            raise OSError("the reader is gone")

    talk.emit = fail
    with pytest.raises(OSError, match="the reader is gone"):
        talk.say("go")
    assert talk.entries[-1].status == "failed"
    assert talk.entries[-1].content
