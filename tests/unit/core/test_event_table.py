from typing import Any, get_args

import pytest

from marid.core.caller import Caller
from marid.core.command_events import (
    AllInboxesEmpty,
    AutoDestroyed,
    CommandDone,
    CommandEvent,
    InboxEmpty,
    InboxesProcessed,
    InboxFailed,
    InboxProcessing,
    LoadSummary,
    ModelSet,
    SystemPromptSet,
)
from marid.core.conversation.entry import Entry
from marid.core.event_table import EVENT_ROWS, AnyEvent, event_line, event_record
from marid.core.events import (
    ContextEvent,
    Event,
    FileProblem,
    Notice,
    PackProgress,
    QuestionAnswered,
    QuestionAsked,
    ToolCalled,
    WalkProgress,
)
from marid.core.model_io import ReasoningDelta, RetryScheduled, TextDelta, Usage
from marid.core.round_events import (
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

SUMMARY = {"builtin_count": 1, "builtin_names": ["t"], "plugin_count": 0, "plugin_names": ()}

LINES: list[tuple[AnyEvent, dict[str, Any] | None]] = [
    (TextDelta("hi"), None),
    (ReasoningDelta("hm"), None),
    (ReplyEnded(), None),
    (ToolStarted("1", "grep", "x"), {"type": "tool_start", "name": "grep", "summary": "x", "id": "1"}),
    (ToolStarted("1", "grep", None), {"type": "tool_start", "name": "grep", "summary": None, "id": "1"}),
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
        FuelStatus(2, 3, "after_continuation", ""),
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
    (RoundEnd("answered", "r1", "text"), {"type": "round_ended", "reason": "answered", "round": "r1"}),
    (EntryStored(Entry("message")), None),
    (LoadSummary(1, ["t"]), {**SUMMARY, "type": "load_summary"}),
    (AutoDestroyed(1, ["a"]), {"type": "auto_destroyed", "count": 1, "names": ["a"]}),
    (SystemPromptSet("c", own=True), {"type": "system_prompt_set", "context": "c", "own": True}),
    (ModelSet("m", "c"), {"type": "model_set", "model": "m", "context": "c"}),
    (InboxProcessing(2, "c"), {"type": "inbox_processing", "count": 2, "context": "c"}),
    (InboxEmpty("c"), {"type": "inbox_empty", "context": "c"}),
    (InboxFailed("c", "x", "y"), {"type": "inbox_failed", "context": "c", "code": "x", "message": "y"}),
    (InboxesProcessed(2), {"type": "inboxes_processed", "count": 2}),
    (AllInboxesEmpty(), {"type": "all_inboxes_empty"}),
    (CommandDone(ok=True), {"type": "done", "ok": True}),
    (CommandDone(ok=False, code="x", message="y"), {"type": "done", "ok": False, "code": "x", "message": "y"}),
]


@pytest.mark.parametrize(("what", "line"), LINES)
def test_an_event_has_its_line_in_json_mode(what: AnyEvent, line: dict[str, Any] | None) -> None:
    made = event_line(what)
    assert made == line
    assert made is None or list(made) == list(dict.fromkeys(["type", *made]))


def test_every_event_has_a_row_and_every_row_an_event() -> None:
    kinds = {*get_args(RoundEvent), *get_args(CommandEvent), *get_args(ContextEvent)}
    assert {row.kind for row in EVENT_ROWS} == kinds
    assert len(EVENT_ROWS) == len(kinds)
    assert {type(what) for what, _ in LINES} == kinds - {WalkProgress, PackProgress, FileProblem}


def test_a_record_holds_the_envelope_and_all_fields() -> None:
    event = Event("r1", 7, Caller(face="test", user="ann"), ToolEnded("c1", "look", "saw", failed=False, seconds=0.5))
    assert event_record(event) == {
        "type": "tool_result",
        "stream": "r1",
        "sequence": 7,
        "caller": {"face": "test", "user": "ann"},
        "id": "c1",
        "name": "look",
        "result": "saw",
        "failed": False,
        "code": "ok",
        "seconds": 0.5,
        "call": "",
        "cached": False,
    }
