from collections.abc import Mapping
from pathlib import Path

from fakes.hands import Hands
from marid.adapters.gauges import NoGauges
from marid.ports.gauges import UiMetrics
from marid.toolkit.outcome import ToolOutput
from marid.tools.runtime import get_ui_performance


class FakeGauges:
    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def read(self) -> Mapping[str, float]:
        return self._values


def hands(root: Path, values: Mapping[str, float]) -> Hands:
    return Hands(root, {UiMetrics: FakeGauges(values)})


def test_the_four_values_have_a_line_each(tmp_path: Path) -> None:
    values = {"input_lag_ms": 8.0, "fps": 59.94, "frame_time_ms": 16.7, "cpu_percent": 12.5}
    outcome = hands(tmp_path, values).call(get_ui_performance)
    assert isinstance(outcome, ToolOutput)
    assert outcome.text == "FPS: 59.9\nFrame Time: 16.7 ms\nCPU: 12.5 %\nInput Lag: 8.0 ms"
    assert outcome.values == values


def test_other_values_follow_by_name(tmp_path: Path) -> None:
    assert hands(tmp_path, {"b\n": 1.0, "a": 2.0, "fps": 60}).text(get_ui_performance) == "FPS: 60.0\na: 2.0\nb\\n: 1.0"


def test_what_is_no_number_is_left_out(tmp_path: Path) -> None:
    assert hands(tmp_path, {"fps": 60, "cpu_percent": float("nan")}).text(get_ui_performance) == "FPS: 60.0"
    failure = hands(tmp_path, {"fps": float("inf")}).failure(get_ui_performance)
    assert (failure.code, failure.message) == ("unavailable", "the user interface has measured nothing yet")


def test_without_an_interface_it_says_so(tmp_path: Path) -> None:
    failure = Hands(tmp_path, {UiMetrics: NoGauges()}).failure(get_ui_performance)
    assert failure.code == "unavailable"
    assert "no user interface is attached" in failure.message
