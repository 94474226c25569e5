import anyio
import pytest

from fakes.events import emit_into
from marid.core.errors import Exhausted
from marid.core.events import Notice
from marid.core.model_io import (
    CallDelta,
    CallStarted,
    GatewayEvent,
    Reasoning,
    ReasoningDelta,
    RequestNotice,
    RetryScheduled,
    Text,
    TextDelta,
    Usage,
)
from marid.core.round_events import RoundEvent, UsageReported
from marid.engine.reply_stream import MAX_REPLY_CHARACTERS, ReplyStream


def heard(*events: GatewayEvent) -> tuple[list[RoundEvent], ReplyStream]:
    told: list[RoundEvent] = []
    hearing = ReplyStream("m", emit_into(told))

    async def main() -> None:
        for event in events:
            await hearing.feed(event)

    anyio.run(main)
    return told, hearing


def test_words_thoughts_costs_and_waits_are_told_as_they_come() -> None:
    usage = Usage(1, 2)
    told, _ = heard(RetryScheduled(2, 0.5, "busy"), ReasoningDelta("hm"), TextDelta("a"), usage)
    assert told == [RetryScheduled(2, 0.5, "busy"), ReasoningDelta("hm"), TextDelta("a"), UsageReported("m", usage)]


def test_what_was_thought_in_a_try_that_failed_is_no_part_of_the_answer() -> None:
    told, hearing = heard(ReasoningDelta("hm"), RetryScheduled(2, 0.5, "busy"), ReasoningDelta("so"), TextDelta("a"))
    assert told == [ReasoningDelta("hm"), RetryScheduled(2, 0.5, "busy"), ReasoningDelta("so"), TextDelta("a")]
    assert hearing.partial_message().parts == (Reasoning(text="so"), Text(text="a"))


def test_one_newline_at_the_very_beginning_is_left_out() -> None:
    told, hearing = heard(TextDelta("\n"), TextDelta("\na"), TextDelta("\nb"))
    assert told == [TextDelta("\na"), TextDelta("\nb")]
    assert hearing.partial_message().text == "\na\nb"


def test_blanks_wait_for_a_word_and_are_nothing_without_one() -> None:
    told, hearing = heard(TextDelta("\n"), TextDelta(" \t"), TextDelta("\n\n"), CallStarted(0, "look"))
    assert told == []
    assert hearing.partial_message().parts == ()
    told, hearing = heard(TextDelta("\n"), TextDelta("  "), TextDelta("a "), TextDelta(" "))
    assert told == [TextDelta("  a "), TextDelta(" ")]
    assert hearing.partial_message().text == "  a  "


def test_a_note_is_told_once_in_a_round() -> None:
    noted: set[str] = set()
    told: list[RoundEvent] = []

    async def main() -> None:
        for text in ("a", "a", "b"):
            await ReplyStream("m", emit_into(told), noted).feed(RequestNotice(text))

    anyio.run(main)
    assert told == [Notice("a"), Notice("b")]


def test_what_came_so_far_is_kept_without_unfinished_calls() -> None:
    told, hearing = heard(ReasoningDelta("hm"), TextDelta("a"), CallStarted(0, "look"), CallDelta(0, "{"))
    assert hearing.partial_message().parts == (Reasoning(text="hm"), Text(text="a"))
    assert hearing.finished is None
    assert len(told) == 2


@pytest.mark.parametrize(
    "piece", [TextDelta("x" * 1_000_000), ReasoningDelta("x" * 1_000_000), CallDelta(0, "x" * 1_000_000)]
)
def test_an_answer_without_end_is_left(piece: GatewayEvent) -> None:
    with pytest.raises(Exhausted, match="no end"):
        heard(*[piece] * (MAX_REPLY_CHARACTERS // 1_000_000 + 1))


def test_the_halves_of_a_character_are_told_as_one() -> None:
    heard: list[object] = []
    hearing = ReplyStream("m", emit_into(heard))
    for piece in ("a", "\ud83d", "\ude00 b\ud83d", "\ude00"):
        anyio.run(hearing.feed, TextDelta(piece))
    assert "".join(one.text for one in heard if isinstance(one, TextDelta)) == "a😀 b😀"
    assert hearing.partial_message().text == "a😀 b😀"
