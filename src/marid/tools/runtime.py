"""Looking at the running program."""

from math import isfinite

from marid.core.policy.policy import Effect
from marid.ports.gauges import UiMetrics
from marid.text.display import escape_text
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool


@tool(family="runtime", effect=Effect.READ, unavailable="no user interface is attached")
def get_ui_performance(*, metrics: UiMetrics) -> ToolOutput:
    """Report how well the user interface runs: FPS, frame time, CPU and input lag."""
    values = {name: value for name, value in metrics.read().items() if isfinite(value)}
    lines = [f"{escape_text(name)}: {value:.1f}" for name, value in values.items()]
    return ToolOutput(text="\n".join(lines) or "nothing is measured yet", values=values)
