"""The library's events as ours."""

from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)

from marid.adapters.gateway.event_translator import EventTranslator
from marid.core.model_io import CallDelta, CallStarted, ReasoningDelta, TextDelta


def test_words_and_thoughts_come_as_they_are_and_nothing_comes_as_nothing() -> None:
    reader = EventTranslator()
    assert reader.translate(PartStartEvent(index=0, part=TextPart("a"))) == (TextDelta("a"),)
    assert reader.translate(PartStartEvent(index=0, part=TextPart(""))) == ()
    assert reader.translate(PartDeltaEvent(index=0, delta=TextPartDelta("b"))) == (TextDelta("b"),)
    assert reader.translate(PartDeltaEvent(index=0, delta=TextPartDelta(""))) == ()
    assert reader.translate(PartStartEvent(index=1, part=ThinkingPart("c"))) == (ReasoningDelta("c"),)
    assert reader.translate(PartStartEvent(index=1, part=ThinkingPart(""))) == ()
    assert reader.translate(PartDeltaEvent(index=1, delta=ThinkingPartDelta(content_delta="d"))) == (
        ReasoningDelta("d"),
    )
    assert reader.translate(PartDeltaEvent(index=1, delta=ThinkingPartDelta(signature_delta="s"))) == ()
    assert reader.translate(PartEndEvent(index=1, part=ThinkingPart("cd"))) == ()


def test_thoughts_that_are_not_wanted_are_not_told() -> None:
    reader = EventTranslator(thoughts=False)
    assert reader.translate(PartStartEvent(index=0, part=ThinkingPart("c"))) == ()
    assert reader.translate(PartDeltaEvent(index=0, delta=ThinkingPartDelta(content_delta="d"))) == ()
    assert reader.translate(PartStartEvent(index=1, part=TextPart("a"))) == (TextDelta("a"),)


def test_the_pieces_of_several_calls_may_alternate() -> None:
    reader = EventTranslator()
    assert reader.translate(PartStartEvent(index=3, part=ToolCallPart("a", None, "1"))) == (CallStarted(0, "a"),)
    assert reader.translate(PartStartEvent(index=5, part=ToolCallPart("b", "{", "2"))) == (
        CallStarted(1, "b"),
        CallDelta(1, "{"),
    )
    for index, number in ((3, 0), (5, 1), (3, 0)):
        delta = ToolCallPartDelta(args_delta="x")
        assert reader.translate(PartDeltaEvent(index=index, delta=delta)) == (CallDelta(number, "x"),)
    assert reader.translate(PartDeltaEvent(index=9, delta=ToolCallPartDelta(args_delta="x"))) == ()
    assert reader.translate(PartDeltaEvent(index=3, delta=ToolCallPartDelta(tool_name_delta="x"))) == ()


def test_other_parts_are_left_out() -> None:
    image = FilePart(BinaryContent(b"x", media_type="image/png"))
    assert EventTranslator().translate(PartStartEvent(index=0, part=image)) == ()
