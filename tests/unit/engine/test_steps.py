"""What comes next, from the history alone."""

import pytest

from marid.core.conversation.entry import (
    AGENT,
    FAILED,
    FLOW_CALL,
    FLOW_RESULT,
    INTERRUPTED,
    MESSAGE,
    STOPPED,
    TO_AGENT,
    TO_USER,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_STARTED,
    USER,
    Entry,
)
from marid.engine.steps import (
    LOOP_END_AT,
    LOOP_WARNING,
    AskModel,
    HandoffDecision,
    RunTools,
    Step,
    Stop,
    call_fingerprints,
    find_handoff,
    next_step,
    repeated_replies,
)
from marid.engine.turns import parse_turns

SAID = Entry(entry_type=MESSAGE, content="hi", to="c", role=USER)


def answer(text: str, status: str = "ok") -> Entry:
    return Entry(entry_type=MESSAGE, content=text, to="user", role=AGENT, status=status)


def call(id: str, name: str = "look", arguments: str = "{}") -> Entry:
    kind = FLOW_CALL if name in (TO_USER, TO_AGENT) else TOOL_CALL
    return Entry(entry_type=kind, content=arguments, to=name, tool_call_id=id)


def result(id: str, text: str = "a", type: str = TOOL_RESULT, status: str = "ok") -> Entry:
    return Entry(entry_type=type, content=text, tool_call_id=id, status=status)


def step(*entries: Entry) -> Step:
    return next_step(parse_turns(entries))


YOURS = call("1", TO_USER, '{"message": "Your turn."}')
HANDED = result("1", type=FLOW_RESULT)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], Stop("nothing")),
        ([SAID], AskModel()),
        ([SAID, answer("Done.")], Stop("answered", "Done.")),
        ([SAID, answer("Cut", STOPPED)], Stop("answered", "Cut")),
        ([SAID, answer("Ha", FAILED)], AskModel()),
        ([SAID, answer("Ha", INTERRUPTED)], AskModel()),
        ([SAID, call("1"), result("1")], AskModel()),
        ([SAID, answer("So."), YOURS, HANDED], Stop("handed", "So.\n\nYour turn.", "Your turn.")),
        ([SAID, call("1", TO_USER, "{"), HANDED], Stop("handed")),
        ([SAID, call("1", TO_AGENT), HANDED], AskModel()),
        ([SAID, call("1", TO_USER), result("1", type=FLOW_RESULT, status=FAILED)], AskModel()),
    ],
)
def test_the_end_of_the_history_says_who_has_the_word(entries: list[Entry], expected: Step) -> None:
    assert step(*entries) == expected


def test_calls_without_results_are_made_and_those_with_are_not() -> None:
    now = step(SAID, call("1"), call("2"), Entry(entry_type=TOOL_STARTED, tool_call_id="2"), result("1"))
    assert isinstance(now, RunTools)
    assert [(one.id, one.started) for one in now.calls] == [("2", True)]


def test_of_several_handoffs_that_to_the_user_wins_and_no_message_to_him_is_lost() -> None:
    user, agent = call("1", TO_USER, '{"message": "Hm?"}'), call("2", TO_AGENT, '{"prompt": "on"}')
    for both in ((user, agent), (agent, user)):
        assert step(SAID, *both, result("1"), result("2")) == Stop("handed", "Hm?", "Hm?")
    more = call("2", TO_USER, '{"message": "Well?"}'), call("3", TO_USER)
    results = result("1"), result("2"), result("3")
    assert step(SAID, user, *more, *results) == Stop("handed", "Hm?\n\nWell?", "Hm?\n\nWell?")


def test_of_several_handoffs_to_itself_the_last_wins() -> None:
    calls = call("1", TO_AGENT, '{"prompt": "a"}'), call("2", TO_AGENT, '{"prompt": "b"}')
    assert find_handoff(parse_turns([SAID, *calls, result("1"), result("2")])) == HandoffDecision(TO_AGENT, "b")


def test_a_handoff_holds_until_somebody_else_speaks() -> None:
    agent = call("1", TO_AGENT, '{"prompt": "next"}'), result("1", type=FLOW_RESULT)
    later = call("2"), result("2")
    assert find_handoff(parse_turns([SAID, *agent, *later])) == HandoffDecision(TO_AGENT, "next")
    assert find_handoff(parse_turns([SAID, *agent, SAID])) is None


def _repeated(times: int, *, warned: bool = False) -> list[Entry]:
    entries = [SAID]
    for number in range(times):
        text = "a" + (LOOP_WARNING if warned and number >= 2 else "")
        entries += [call(str(number)), result(str(number), text)]
    return entries


def test_the_same_call_with_the_same_result_is_counted_whether_or_not_it_was_warned_of() -> None:
    assert repeated_replies(call_fingerprints(parse_turns(_repeated(4, warned=True)))) == 4
    other = [*_repeated(4), call("x", arguments='{"b": 1}'), result("x")]
    assert repeated_replies(call_fingerprints(parse_turns(other))) == 1
    assert repeated_replies(call_fingerprints(parse_turns([*_repeated(4), call("x"), result("x", "b")]))) == 1
    assert repeated_replies([]) == 0


def test_several_calls_that_are_repeated_together_are_a_loop_too() -> None:
    entries: list[Entry] = []
    for number in range(LOOP_END_AT):
        a, b = f"a{number}", f"b{number}"
        entries += [call(a), call(b, "see"), result(a), result(b, "other")]
    assert step(*entries) == Stop("loop")
    assert step(*entries[:-4]) == AskModel()


def test_a_loop_ends_the_round_until_somebody_else_speaks() -> None:
    assert step(*_repeated(LOOP_END_AT - 1)) == AskModel()
    assert step(*_repeated(LOOP_END_AT, warned=True)) == Stop("loop")
    assert step(*_repeated(LOOP_END_AT), SAID, call("x"), result("x")) == AskModel()
