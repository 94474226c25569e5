"""What happens in a round, as lines: entries are results, all else are events."""

from marid.core.events import Answered, Asked, Called, Note
from marid.core.rounds import (
    CONTINUED,
    Fuel,
    FuelExhausted,
    InboxInjected,
    ReplyEnded,
    Retrying,
    RoundHappening,
    Spent,
    Stored,
    Thought,
    ToolEnded,
    ToolStarted,
    WindowWarning,
    Words,
)
from marid.faces.pipe.wire import Wire


class Teller:
    """Tells what happens on a wire. The answer is told once, as an entry: words and thoughts on their way are not."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def __call__(self, what: RoundHappening) -> None:
        """Raises: Unavailable when nobody reads the results."""
        match what:
            case Words() | Thought() | ReplyEnded():
                pass
            case Stored(entry=entry):
                self._wire.entry(entry)
            case ToolStarted() | ToolEnded() | Called():
                self._tool(what)
            case Fuel() | FuelExhausted() | WindowWarning() | Spent():
                self._means(what)
            case Asked() | Answered() | InboxInjected() | Retrying() | Note():
                self._besides(what)

    def _tool(self, what: ToolStarted | ToolEnded | Called) -> None:
        match what:
            case ToolStarted(id=call, name=name, summary=summary):
                self._wire.event("tool_start", name=name, summary=summary or None, id=call)
            case ToolEnded(id=call, name=name, text=text, failed=failed):
                self._wire.event("tool_result", name=name, result=text, cached=False, id=call, failed=failed)
            case Called(tool=tool, code=code, seconds=seconds):
                if code != "ok":
                    self._wire.event("tool_diagnostic", tool=tool, message=f"{code} after {seconds:.3f} s")

    def _means(self, what: Fuel | FuelExhausted | WindowWarning | Spent) -> None:
        match what:
            case Fuel(remaining=remaining, total=total, event=event, preview=preview):
                more = {"prompt_preview": preview} if event == CONTINUED else {}
                self._wire.event("fuel_status", remaining=remaining, total=total, event=event, **more)
            case FuelExhausted(total=total):
                self._wire.event("fuel_exhausted", total=total)
            case WindowWarning(remaining=remaining, limit=limit):
                self._wire.event("context_warning", tokens_remaining=remaining, limit=limit)
            case Spent(model=model, usage=usage):
                self._wire.event("usage", model=model, **usage._asdict())

    def _besides(self, what: Asked | Answered | InboxInjected | Retrying | Note) -> None:
        match what:
            case Asked(id=question, kind=kind, tool=tool):
                self._wire.event("approval", id=question, kind=kind, tool=tool)
            case Answered(id=question, answer=answer):
                self._wire.event("approval", id=question, answer=answer)
            case InboxInjected(messages=count):
                self._wire.event("inbox_injected", count=count)
            case Retrying(attempt=attempt, seconds=seconds, why=why):
                self._wire.event("retrying", attempt=attempt, seconds=seconds, why=why)
            case Note(text=text):
                self._wire.event("note", text=text)
