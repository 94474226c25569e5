"""What is known of one call while it is on its way, and the record of it at the end."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from marid.core.policy import Verdict
from marid.ports.audit import Record
from marid.toolkit.outcome import Done, Failed, Outcome
from marid.toolkit.scope import Scope
from marid.toolkit.spec import ToolSpec
from marid.workspace.guard import Territory


@dataclass(kw_only=True)
class Trip:
    """Filled in along the road. `acted`: something was done that cannot be taken back.

    `widened` are the territories that a person has opened for this call, each with one path more than the one before.
    """

    call: str
    name: str
    started: float
    since: float
    args: Mapping[str, object] = field(default_factory=dict[str, object])
    spec: ToolSpec | None = None
    verdict: Verdict | None = None
    approval: str = ""
    bug: BaseException | None = None
    acted: bool = False
    widened: list[Territory] = field(default_factory=list[Territory])

    @property
    def tool(self) -> str:
        """The tool's own name, or what was looked for."""
        return self.name if self.spec is None else self.spec.name


def record_of(trip: Trip, outcome: Outcome | None, scope: Scope) -> Record:
    """No outcome: the call was cancelled."""
    match outcome:
        case Done():
            code, message, size = "ok", "", len(outcome.text)
        case Failed():
            code, message, size = outcome.code, outcome.message, 0
        case None:
            code, message, size = "cancelled", "", 0
    return Record(
        time=trip.started,
        call=trip.call,
        caller=scope.caller,
        tool=trip.tool,
        effect=trip.spec.effect.value if trip.spec is not None else "",
        verdict=trip.verdict.name.lower() if trip.verdict is not None else "",
        approval=trip.approval,
        code=code,
        message=message,
        seconds=time.perf_counter() - trip.since,
        size=size,
        args=trip.args,
        trace=_trace(trip.bug),
        durable=trip.acted,
    )


def _trace(bug: BaseException | None) -> str:
    if bug is None:
        return ""
    import traceback  # imported when used: only a bug needs it

    return "".join(traceback.format_exception(bug))
