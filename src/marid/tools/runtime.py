"""Looking at the running program."""

from collections.abc import Mapping
from math import isfinite

from marid.core.errors import Unavailable
from marid.core.policy.policy import Effect
from marid.ports.gauges import UiMetrics
from marid.text.display import escape_text
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import ToolSpec, tool

KNOWN_GAUGES = (
    ("fps", "FPS", ""),
    ("frame_time_ms", "Frame Time", " ms"),
    ("cpu_percent", "CPU", " %"),
    ("input_lag_ms", "Input Lag", " ms"),
)
MAX_OTHERS = 20
MAX_NAME_LENGTH = 60


@tool(family="runtime", effect=Effect.READ)
def get_ui_performance(*, gauges: UiMetrics) -> ToolOutput:
    """Tell how well the user interface runs: FPS, frame time, CPU and input lag.

    Says so when no user interface is attached.
    """
    values = {name: float(value) for name, value in gauges.read().items() if isfinite(value)}
    lines = [f"{label}: {values[name]:.1f}{unit}" for name, label, unit in KNOWN_GAUGES if name in values]
    lines += _other_lines(values)
    if not lines:
        raise Unavailable("the user interface has measured nothing yet")
    return ToolOutput(text="\n".join(lines), values=values)


def _other_lines(values: Mapping[str, float]) -> list[str]:
    known = {name for name, _, _ in KNOWN_GAUGES}
    names = sorted(name for name in values if name not in known)[:MAX_OTHERS]
    return [f"{escape_text(name)[:MAX_NAME_LENGTH]}: {values[name]:.1f}" for name in names]


TOOLS: tuple[ToolSpec, ...] = (get_ui_performance,)
