"""What is known of one call while it is on its way, and the record of it at the end."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from marid.core.policy.policy import Verdict
from marid.ports.audit import AuditRecord
from marid.toolkit.call_scope import CallScope
from marid.toolkit.outcome import Outcome, ToolFailure, ToolOutput
from marid.toolkit.spec import ToolSpec
from marid.workspace.guard.api import PathScope


@dataclass(kw_only=True)
class CallState:
    """Filled in along the road. `acted`: something was done that cannot be taken back.

    `widened` are the territories that a person has opened for this call, each with one path more than the one before.
    """

    call_id: str
    name: str
    started_at: float
    start_counter: float
    args: Mapping[str, object] = field(default_factory=dict[str, object])
    spec: ToolSpec | None = None
    verdict: Verdict | None = None
    approval: str = ""
    bug: BaseException | None = None
    has_acted: bool = False
    widened_scopes: list[PathScope] = field(default_factory=list[PathScope])

    @property
    def tool_name(self) -> str:
        """The tool's own name, or what was looked for."""
        return self.name if self.spec is None else self.spec.name


def audit_record(state: CallState, outcome: Outcome | None, scope: CallScope) -> AuditRecord:
    """No outcome: the call was cancelled."""
    match outcome:
        case ToolOutput():
            code, message, size = "ok", "", len(outcome.text)
        case ToolFailure():
            code, message, size = outcome.code, outcome.message, 0
        case None:
            code, message, size = "cancelled", "", 0
    return AuditRecord(
        time=state.started_at,
        call=state.call_id,
        caller=scope.caller,
        tool=state.tool_name,
        effect=state.spec.effect.value if state.spec is not None else "",
        verdict=state.verdict.name.lower() if state.verdict is not None else "",
        approval=state.approval,
        code=code,
        message=message,
        seconds=time.perf_counter() - state.start_counter,
        size=size,
        args=state.args,
        trace=_trace(state.bug),
        durable=state.has_acted,
    )


def _trace(bug: BaseException | None) -> str:
    if bug is None:
        return ""
    import traceback  # imported when used: only a bug needs it

    return "".join(traceback.format_exception(bug))
