from collections.abc import Mapping
from pathlib import Path

from fakes.dispatcher import CallHarness
from fakes.tool_caller import ToolCaller
from marid.ports.gauges import UiMetrics
from marid.tools.runtime import get_ui_performance


class Metrics:
    """Measured values."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def read(self) -> Mapping[str, float]:
        return self._values


def test_every_finite_value_has_a_line(tmp_path: Path) -> None:
    metrics = Metrics({"fps": 59.94, "x\x1b": 1, "odd": float("nan")})
    assert ToolCaller(tmp_path, {UiMetrics: metrics}).text(get_ui_performance) == "fps: 59.9\nx\\x1b: 1.0"
    assert ToolCaller(tmp_path, {UiMetrics: Metrics({})}).text(get_ui_performance) == "nothing is measured yet"


def test_without_an_interface_it_is_not_available(tmp_path: Path) -> None:
    outcome = CallHarness(tmp_path, get_ui_performance).call("get_ui_performance", {})
    assert outcome.text == "ERROR: 'get_ui_performance' is not available here: no user interface is attached"
