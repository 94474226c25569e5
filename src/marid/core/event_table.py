"""Every event with its name and fields on wires. JSON lines, docs and later wires are projections of this table."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast

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
from marid.core.conversation.entry_json import entry_to_dict
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

AnyEvent: TypeAlias = ContextEvent | RoundEvent | CommandEvent


class EventRow(NamedTuple):
    """One kind of event. `line` are the fields of its line in JSON mode; None: it has no line there.

    A field that ends with `?` is left out of the line where it is None. `count=messages` is the attribute `messages` by
    the name `count`. An attribute may be a property of the class.
    """

    kind: type[Any]
    name: str
    meaning: str
    line: tuple[str, ...] | None = None


EVENT_ROWS = (
    EventRow(
        LoadSummary,
        "load_summary",
        "the tools of this process",
        ("builtin_count", "builtin_names", "plugin_count", "plugin_names"),
    ),
    EventRow(Notice, "note", "what you should know about the request or the settings", ("text",)),
    EventRow(AutoDestroyed, "auto_destroyed", "conversations that expired and are destroyed", ("count=total", "names")),
    EventRow(
        SystemPromptSet,
        "system_prompt_set",
        "the conversation has its own system prompt, or, with `own` false, the default one again",
        ("context", "own"),
    ),
    EventRow(ModelSet, "model_set", "the conversation uses this model from now on", ("model", "context")),
    EventRow(
        InboxProcessing,
        "inbox_processing",
        "a conversation is about to act on `count` messages",
        ("count=messages", "context"),
    ),
    EventRow(InboxInjected, "inbox_injected", "`count` messages were put before the prompt", ("count=messages",)),
    EventRow(InboxEmpty, "inbox_empty", "the conversation has no messages", ("context",)),
    EventRow(
        InboxFailed,
        "inbox_failed",
        "a conversation could not act on its messages; the others go on, and `done` has the first failure",
        ("context", "code", "message"),
    ),
    EventRow(
        InboxesProcessed,
        "inboxes_processed",
        "how many conversations acted on their messages",
        ("count=conversations",),
    ),
    EventRow(AllInboxesEmpty, "all_inboxes_empty", "no conversation has messages", ()),
    EventRow(ToolStarted, "tool_start", "the model calls a tool; `summary` may be null", ("name", "summary", "id")),
    EventRow(
        ToolEnded,
        "tool_result",
        "the result, as the model reads it",
        ("name", "result", "cached", "id", "failed"),
    ),
    EventRow(ToolCalled, "tool_diagnostic", "a call failed, and how long it took", ("tool", "message")),
    EventRow(
        QuestionAsked,
        "approval",
        "a question: `id`, `kind`, `tool`; then its answer: `id`, `answer`",
        ("id", "kind", "tool"),
    ),
    EventRow(QuestionAnswered, "approval", "", ("id", "answer")),
    EventRow(
        FuelStatus,
        "fuel_status",
        "`event` is `entering_turn`, `after_tool_batch`, `empty_response` or `after_continuation`, which has "
        "`prompt_preview`: empty when the model goes on without a prompt of its own",
        ("remaining", "total", "event", "prompt_preview?"),
    ),
    EventRow(FuelExhausted, "fuel_exhausted", "no request is left: the round ends", ("total",)),
    EventRow(WindowWarning, "context_warning", "the window is nearly full", ("tokens_remaining", "limit")),
    EventRow(
        UsageReported, "usage", "the tokens that one request has cost", ("model", *cast("tuple[str]", Usage._fields))
    ),
    EventRow(RetryScheduled, "retrying", "the service failed and will be asked again", ("attempt", "seconds", "why")),
    EventRow(RoundEnd, "round_ended", "why a round is over", ("reason", "round")),
    EventRow(
        CommandDone,
        "done",
        "the last line; `code` and `message` when `ok` is false",
        ("ok", "code?", "message?"),
    ),
    EventRow(TextDelta, "text", "more text of the answer"),
    EventRow(ReasoningDelta, "reasoning", "more of the model's reasoning"),
    EventRow(ReplyEnded, "reply_ended", "one reply of the model is complete"),
    EventRow(EntryStored, "entry", "an entry is in the transcript"),
    EventRow(WalkProgress, "walk_progress", "how many files are selected so far"),
    EventRow(PackProgress, "pack_progress", "how many files and bytes are written so far"),
    EventRow(FileProblem, "file_problem", "a selected file was left out, and why"),
)


@cache
def _rows() -> Mapping[type[Any], EventRow]:
    return MappingProxyType({row.kind: row for row in EVENT_ROWS})


def event_line(what: AnyEvent) -> dict[str, object] | None:
    """The line of an event in JSON mode; None where it has no line."""
    row = _rows()[type(what)]
    if row.line is None or (isinstance(what, ToolCalled) and what.code == "ok"):
        return None
    fields = _fields(what)
    line: dict[str, object] = {"type": row.name}
    for field in row.line:
        name, _, attribute = field.removesuffix("?").partition("=")
        attribute = attribute or name
        value = fields[attribute] if attribute in fields else getattr(what, attribute)
        if value is not None or not field.endswith("?"):
            line[name] = value
    return line


def event_record(event: Event[AnyEvent]) -> dict[str, object]:
    """The whole event: name, stream, sequence, caller and all fields, as JSON values."""
    caller = {name: value for name, value in event.caller._asdict().items() if value}
    place = {"type": _rows()[type(event.what)].name, "stream": event.stream, "sequence": event.sequence}
    return {**place, "caller": caller, **_fields(event.what)}


def _fields(what: AnyEvent) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in cast("Mapping[str, object]", what._asdict()).items():
        if isinstance(value, Usage):
            fields |= value._asdict()
        else:
            fields[name] = entry_to_dict(value) if isinstance(value, Entry) else value
    return fields


def json_line_table() -> list[tuple[str, tuple[str, ...], str]]:
    """The events that have a line in JSON mode: name, fields, meaning."""
    table: dict[str, tuple[tuple[str, ...], str]] = {}
    for row in EVENT_ROWS:
        if row.line is not None:
            fields, meaning = table.get(row.name, ((), ""))
            names = (*fields, *(field.removesuffix("?").partition("=")[0] for field in row.line))
            table[row.name] = (tuple(dict.fromkeys(names)), meaning or row.meaning)
    return [(name, fields, meaning) for name, (fields, meaning) in table.items()]
