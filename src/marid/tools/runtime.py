"""Looking at the running program."""

from collections.abc import Mapping
from math import isfinite

from marid.core.errors import Unavailable
from marid.core.policy import Effect
from marid.ports.gauges import Gauges
from marid.text.visible import shown_text
from marid.toolkit.outcome import Done
from marid.toolkit.spec import ToolSpec, tool

NAMED = (
    ("fps", "FPS", ""),
    ("frame_time_ms", "Frame Time", " ms"),
    ("cpu_percent", "CPU", " %"),
    ("input_lag_ms", "Input Lag", " ms"),
)
MOST_OTHERS = 20
LONGEST_NAME = 60


@tool(family="runtime", effect=Effect.READ)
def get_ui_performance(*, gauges: Gauges) -> Done:
    """Tell how well the user interface runs: FPS, frame time, CPU and input lag.

    Says so when no user interface is attached.
    """
    values = {name: float(value) for name, value in gauges.read().items() if isfinite(value)}
    lines = [f"{label}: {values[name]:.1f}{unit}" for name, label, unit in NAMED if name in values]
    lines += _others(values)
    if not lines:
        raise Unavailable("the user interface has measured nothing yet")
    return Done(text="\n".join(lines), values=values)


def _others(values: Mapping[str, float]) -> list[str]:
    known = {name for name, _, _ in NAMED}
    names = sorted(name for name in values if name not in known)[:MOST_OTHERS]
    return [f"{shown_text(name)[:LONGEST_NAME]}: {values[name]:.1f}" for name in names]


TOOLS: tuple[ToolSpec, ...] = (get_ui_performance,)
