"""What happens in a round, as lines: entries are results, all else are events."""

from marid.core.events import Event, Notice, QuestionAnswered, QuestionAsked, ToolCalled
from marid.core.model_io import ReasoningDelta, RetryScheduled, TextDelta
from marid.core.round_events import (
    AFTER_CONTINUATION,
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


class RoundEventWriter:
    """Tells what happens on a wire. The answer is told once, as an entry: words and thoughts on their way are not."""

    def __init__(self, wire: JsonLineWriter) -> None:
        self._writer = wire

    async def __call__(self, event: Event[RoundEvent]) -> None:
        """Listen to a round. Raises: OutputClosed when no reader takes the results."""
        self.write(event.what)

    def write(self, what: RoundEvent) -> None:
        """Write one event. Raises: OutputClosed."""
        match what:
            case TextDelta() | ReasoningDelta() | ReplyEnded():
                pass
            case EntryStored(entry=entry):
                self._writer.write_entry(entry)
            case ToolStarted() | ToolEnded() | ToolCalled():
                self._write_tool(what)
            case FuelStatus() | FuelExhausted() | WindowWarning() | UsageReported():
                self._write_resources(what)
            case QuestionAsked() | QuestionAnswered() | InboxInjected() | RetryScheduled() | Notice():
                self._write_other(what)

    def _write_tool(self, what: ToolStarted | ToolEnded | ToolCalled) -> None:
        match what:
            case ToolStarted(id=call, name=name, summary=summary):
                self._writer.write_event("tool_start", name=name, summary=summary or None, id=call)
            case ToolEnded(id=call, name=name, text=text, failed=failed):
                self._writer.write_event("tool_result", name=name, result=text, cached=False, id=call, failed=failed)
            case ToolCalled(tool=tool, code=code, seconds=seconds):
                if code != "ok":
                    self._writer.write_event("tool_diagnostic", tool=tool, message=f"{code} after {seconds:.3f} s")

    def _write_resources(self, what: FuelStatus | FuelExhausted | WindowWarning | UsageReported) -> None:
        match what:
            case FuelStatus(remaining=remaining, total=total, event=event, preview=preview):
                more = {"prompt_preview": preview} if event == AFTER_CONTINUATION else {}
                self._writer.write_event("fuel_status", remaining=remaining, total=total, event=event, **more)
            case FuelExhausted(total=total):
                self._writer.write_event("fuel_exhausted", total=total)
            case WindowWarning(remaining=remaining, limit=limit):
                self._writer.write_event("context_warning", tokens_remaining=remaining, limit=limit)
            case UsageReported(model=model, usage=usage):
                self._writer.write_event("usage", model=model, **usage._asdict())

    def _write_other(self, what: QuestionAsked | QuestionAnswered | InboxInjected | RetryScheduled | Notice) -> None:
        match what:
            case QuestionAsked(id=question, kind=kind, tool=tool):
                self._writer.write_event("approval", id=question, kind=kind, tool=tool)
            case QuestionAnswered(id=question, answer=answer):
                self._writer.write_event("approval", id=question, answer=answer)
            case InboxInjected(messages=count):
                self._writer.write_event("inbox_injected", count=count)
            case RetryScheduled(attempt=attempt, seconds=seconds, why=why):
                self._writer.write_event("retrying", attempt=attempt, seconds=seconds, why=why)
            case Notice(text=text):
                self._writer.write_event("note", text=text)
