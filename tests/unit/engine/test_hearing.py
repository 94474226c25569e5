import anyio
import pytest

from marid.core.chat import (
    CallDelta,
    CallStarted,
    Finished,
    GatewayEvent,
    Message,
    Noted,
    Reasoning,
    ReasoningDelta,
    Retrying,
    Text,
    TextDelta,
    Usage,
)
from marid.core.errors import Exhausted
from marid.core.events import Note
from marid.core.rounds import Retrying as Waiting
from marid.core.rounds import RoundHappening, Spent, Thought, Words
from marid.engine.hearing import MOST_CHARACTERS, Hearing


def heard(*events: GatewayEvent) -> tuple[list[RoundHappening], Hearing]:
    told: list[RoundHappening] = []
    hearing = Hearing("m", told.append)

    async def main() -> None:
        for event in events:
            await hearing.take(event)

    anyio.run(main)
    return told, hearing


def test_words_thoughts_costs_and_waits_are_told_as_they_come() -> None:
    usage = Usage(1, 2)
    told, _ = heard(Retrying(2, 0.5, "busy"), ReasoningDelta("hm"), TextDelta("a"), usage)
    assert told == [Waiting(2, 0.5, "busy"), Thought("hm"), Words("a"), Spent("m", usage)]


def test_what_was_thought_in_a_try_that_failed_is_no_part_of_the_answer() -> None:
    told, hearing = heard(ReasoningDelta("hm"), Retrying(2, 0.5, "busy"), ReasoningDelta("so"), TextDelta("a"))
    assert told == [Thought("hm"), Waiting(2, 0.5, "busy"), Thought("so"), Words("a")]
    assert hearing.partial().parts == (Reasoning(text="so"), Text(text="a"))


def test_one_newline_at_the_very_beginning_is_left_out() -> None:
    told, hearing = heard(TextDelta("\n"), TextDelta("\na"), TextDelta("\nb"))
    assert told == [Words("\na"), Words("\nb")]
    assert hearing.partial().text == "\na\nb"


def test_blanks_wait_for_a_word_and_are_nothing_without_one() -> None:
    told, hearing = heard(TextDelta("\n"), TextDelta(" \t"), TextDelta("\n\n"), CallStarted(0, "look"))
    assert told == []
    assert hearing.partial().parts == ()
    told, hearing = heard(TextDelta("\n"), TextDelta("  "), TextDelta("a "), TextDelta(" "))
    assert told == [Words("  a "), Words(" ")]
    assert hearing.partial().text == "  a  "


def test_a_note_is_told_once_in_a_round() -> None:
    noted: set[str] = set()
    told: list[RoundHappening] = []

    async def main() -> None:
        for text in ("a", "a", "b"):
            await Hearing("m", told.append, noted).take(Noted(text))

    anyio.run(main)
    assert told == [Note("a"), Note("b")]


def test_what_came_so_far_is_kept_without_unfinished_calls() -> None:
    told, hearing = heard(ReasoningDelta("hm"), TextDelta("a"), CallStarted(0, "look"), CallDelta(0, "{"))
    assert hearing.partial().parts == (Reasoning(text="hm"), Text(text="a"))
    assert hearing.finished is None
    assert len(told) == 2


def test_the_end_is_kept() -> None:
    end = Finished("stop", Message(role="assistant", parts=()))
    assert heard(end)[1].finished is end


@pytest.mark.parametrize(
    "piece", [TextDelta("x" * 1_000_000), ReasoningDelta("x" * 1_000_000), CallDelta(0, "x" * 1_000_000)]
)
def test_an_answer_without_end_is_left(piece: GatewayEvent) -> None:
    with pytest.raises(Exhausted, match="no end"):
        heard(*[piece] * (MOST_CHARACTERS // 1_000_000 + 1))


def test_the_halves_of_a_character_are_told_as_one() -> None:
    heard: list[object] = []
    hearing = Hearing("m", heard.append)
    for piece in ("a", "\ud83d", "\ude00 b\ud83d", "\ude00"):
        anyio.run(hearing.take, TextDelta(piece))
    assert "".join(one.text for one in heard if isinstance(one, Words)) == "a😀 b😀"
    assert hearing.partial().text == "a😀 b😀"
