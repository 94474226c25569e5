"""Histories of ours and of others, read as turns."""

import pytest

from marid.core.conversation.entry import (
    AGENT,
    CONTEXT_CREATED,
    FLOW_CALL,
    FLOW_RESULT,
    MESSAGE,
    TOOL_CALL,
    TOOL_RESULT,
    TOOL_STARTED,
    USER,
    Entry,
)
from marid.engine.turns import Reply, UserTurn, parse_turns


def said(text: str = "hi") -> Entry:
    return Entry(entry_type=MESSAGE, content=text, sender="user", to="c", role=USER)


def words(text: str, round: str = "", status: str = "ok") -> Entry:
    return Entry(entry_type=MESSAGE, content=text, sender="c", to="user", role=AGENT, round=round, status=status)


def call(name: str = "look", id: str = "", key: str = "", type: str = TOOL_CALL) -> Entry:
    return Entry(entry_type=type, content="{}", sender="c", to=name, tool_call_id=id, id=key)


def result(text: str, id: str = "", type: str = TOOL_RESULT) -> Entry:
    return Entry(entry_type=type, content=text, sender="look", to="c", tool_call_id=id)


def made(*entries: Entry) -> list[list[tuple[str, str | None]]]:
    """For each reply the ids of its calls and what they came to."""
    found = [turn for turn in parse_turns(entries) if isinstance(turn, Reply)]
    return [[(one.id, one.result.content if one.result else None) for one in turn.calls] for turn in found]


def test_words_and_the_calls_behind_them_are_one_reply() -> None:
    first, second = parse_turns(
        [said(), words("Look:"), call(id="1"), call(id="2"), result("a", "1"), result("b", "2")]
    )
    assert isinstance(first, UserTurn)
    assert isinstance(second, Reply)
    assert second.text == "Look:"
    assert [one.id for one in second.calls] == ["1", "2"]
    assert second.pending == ()


@pytest.mark.parametrize(
    ("entries", "paired"),
    [
        # Results find their calls by id, whatever their order, and late ones too.
        ([call(id="1"), call(id="2"), result("b", "2"), result("a", "1")], [[("1", "a"), ("2", "b")]]),
        ([call(id="1"), call(id="2"), result("b", "2"), said(), result("a", "1")], [[("1", "a"), ("2", "b")]]),
        # Calls without ids get one and are paired by their place.
        ([call(key="x"), call(key="y"), result("a"), result("b")], [[("synth_x", "a"), ("synth_y", "b")]]),
        ([call(key="x"), result("a", "1")], [[("synth_x", "a")]]),
        ([call(), call(), call()], [[("synth_", None), ("synth__2", None), ("synth__3", None)]]),
        # Results without a call and second results are passed over.
        ([call(id="2"), result("a", "1")], [[("2", None)]]),
        ([result("a"), result("a", "9"), said(), result("b")], []),
        ([call(id="1"), result("a", "1"), result("again", "1")], [[("1", "a")]]),
        # A call after a result begins another reply, in which an id that is used again is made another.
        ([call(id="1"), result("a", "1"), call(id="2"), result("b", "2")], [[("1", "a")], [("2", "b")]]),
        ([call(id="1"), result("a", "1"), call(id="1", key="y"), result("b", "1")], [[("1", "a")], [("synth_y", "b")]]),
        ([call(id="1"), call(id="1", key="y"), result("a", "1"), result("b", "synth_y")],
         [[("1", "a"), ("synth_y", "b")]]),
        # Calls that hand the word over are calls like others.
        ([call("call_user", "1", type=FLOW_CALL), result("ok", "1", FLOW_RESULT)], [[("1", "ok")]]),
    ],
)  # fmt: skip
def test_results_are_paired_with_their_calls(entries: list[Entry], paired: list[list[tuple[str, str | None]]]) -> None:
    assert made(*entries) == paired


def test_an_id_that_we_make_is_as_short_as_services_want_it() -> None:
    ((one,),) = made(call(key="123e4567-e89b-12d3-a456-426614174000"))
    assert len(one[0]) <= 40


def test_a_call_is_started_once_that_is_written() -> None:
    started = Entry(entry_type=TOOL_STARTED, tool_call_id="2")
    (reply,) = parse_turns([call(id="1"), call(id="2"), started, Entry(entry_type=TOOL_STARTED, tool_call_id="9")])
    assert isinstance(reply, Reply)
    assert [(one.started, one.name) for one in reply.pending] == [(False, "look"), (True, "look")]


def test_who_speaks_is_what_the_entry_says_else_it_goes_by_whom_it_is_said_to() -> None:
    of_chibi = Entry(entry_type=MESSAGE, content="a", sender="c", to="user")
    to_one_called_user = Entry(entry_type=MESSAGE, content="b", sender="me", to="user", role=USER)
    again = Entry(entry_type=MESSAGE, content="go on", sender="system", to="c", role=USER)
    kinds = [type(turn) for turn in parse_turns([of_chibi, to_one_called_user, again])]
    assert kinds == [Reply, UserTurn, UserTurn]


def test_pieces_of_one_answer_are_one_reply_and_answers_of_two_rounds_are_not() -> None:
    assert [turn.text for turn in parse_turns([words("a", "1"), words("b", "1")]) if isinstance(turn, Reply)] == ["ab"]
    assert len(parse_turns([words("a", "1"), words("b", "2")])) == 2
    assert len(parse_turns([words("a"), words("b")])) == 2


def test_what_says_nothing_to_a_model_is_passed_over() -> None:
    assert parse_turns([Entry(entry_type=CONTEXT_CREATED), Entry(entry_type="somebody's own")]) == ()


def test_a_call_without_a_name_has_one() -> None:
    (reply,) = parse_turns([call("")])
    assert isinstance(reply, Reply)
    assert reply.calls[0].name == "unknown"
