import io
import json
from typing import Any, get_args

import pytest

from marid.core.conversation.entry import Entry
from marid.core.events import Notice, QuestionAnswered, QuestionAsked, ToolCalled
from marid.core.model_io import ReasoningDelta, RetryScheduled, TextDelta, Usage
from marid.core.round_events import (
    EntryStored,
    FuelExhausted,
    FuelStatus,
    InboxInjected,
    ReplyEnded,
    RoundEvent,
    ToolEnded,
    ToolStarted,
    UsageReported,
    WindowWarning,
)
from marid.faces.pipe.json_lines import JsonLineWriter
from marid.faces.pipe.round_events import RoundEventWriter

TOLD: list[tuple[RoundEvent, dict[str, Any] | None]] = [
    (TextDelta("hi"), None),
    (ReasoningDelta("hm"), None),
    (ReplyEnded(), None),
    (ToolStarted("1", "grep", "x"), {"type": "tool_start", "name": "grep", "summary": "x", "id": "1"}),
    (ToolStarted("1", "grep", ""), {"type": "tool_start", "name": "grep", "summary": None, "id": "1"}),
    (
        ToolEnded("1", "grep", "found", failed=False),
        {"type": "tool_result", "name": "grep", "result": "found", "cached": False, "id": "1", "failed": False},
    ),
    (ToolCalled("grep", "ok", 0.5), None),
    (
        ToolCalled("grep", "refused", 0.5),
        {"type": "tool_diagnostic", "tool": "grep", "message": "refused after 0.500 s"},
    ),
    (
        FuelStatus(29, 30, "entering_turn"),
        {"type": "fuel_status", "remaining": 29, "total": 30, "event": "entering_turn"},
    ),
    (
        FuelStatus(2, 3, "after_continuation", "go on"),
        {"type": "fuel_status", "remaining": 2, "total": 3, "event": "after_continuation", "prompt_preview": "go on"},
    ),
    (
        FuelStatus(2, 3, "after_continuation"),
        {"type": "fuel_status", "remaining": 2, "total": 3, "event": "after_continuation", "prompt_preview": ""},
    ),
    (FuelExhausted(3), {"type": "fuel_exhausted", "total": 3}),
    (WindowWarning(100, 1000), {"type": "context_warning", "tokens_remaining": 100, "limit": 1000}),
    (InboxInjected(2), {"type": "inbox_injected", "count": 2}),
    (RetryScheduled(1, 0.5, "busy"), {"type": "retrying", "attempt": 1, "seconds": 0.5, "why": "busy"}),
    (
        UsageReported("m", Usage(10, 5)),
        {"type": "usage", "model": "m", "input": 10, "output": 5, "cached": 0, "reasoning": 0, "estimated": False},
    ),
    (QuestionAsked("q", "edit", "edit_file"), {"type": "approval", "id": "q", "kind": "edit", "tool": "edit_file"}),
    (QuestionAnswered("q", "no"), {"type": "approval", "id": "q", "answer": "no"}),
    (Notice("careful"), {"type": "note", "text": "careful"}),
]


@pytest.mark.parametrize(("what", "event"), TOLD)
def test_what_happens_is_an_event(what: RoundEvent, event: dict[str, Any] | None) -> None:
    out, err = io.BytesIO(), io.BytesIO()
    RoundEventWriter(JsonLineWriter(out, err)).write(what)
    assert [json.loads(line) for line in err.getvalue().splitlines()] == ([event] if event else [])
    assert out.getvalue() == b""


def test_an_entry_is_a_result() -> None:
    out, err = io.BytesIO(), io.BytesIO()
    RoundEventWriter(JsonLineWriter(out, err)).write(EntryStored(Entry("message", "hi", id="1")))
    assert json.loads(out.getvalue())["entry_type"] == "message"
    assert err.getvalue() == b""


def test_all_that_can_happen_is_tried_here() -> None:
    assert {type(what) for what, _ in TOLD} | {EntryStored} == set(get_args(RoundEvent))
