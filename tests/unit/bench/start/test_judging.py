"""How a start is judged; measuring needs an installed wheel, which only a run of the benchmark makes."""

import sys
from pathlib import Path

import pytest
from bench.start import __main__ as bench


def test_each_round_is_compared_with_the_bare_interpreter_of_the_same_round() -> None:
    taken = {"bare": [1.0, 2.0, 4.0], "ours": [2.0, 4.0, 8.0], "other": [9.0, 9.0, 9.0]}
    bars = {bar.name: bar for bar in bench.compare(taken, "bare", {"ours": 2.0, "other": 2.0})}
    assert (bars["ours / bare"].value, bars["ours / bare"].holds) == (2.0, True)
    assert bars["other / bare"].holds is False
    assert bars["bare, ms"].holds is None
    assert bars["bare, ms"].value == pytest.approx(2000.0)


def test_commands_are_started_in_turns_and_the_first_round_does_not_count(tmp_path: Path) -> None:
    log = tmp_path / "log"
    commands = {name: ["sh", "-c", f"echo {name} >> '{log}'"] for name in ("a", "b")}
    taken = bench.measure(commands, {"PATH": "/usr/bin:/bin"}, 2)
    assert log.read_text().split() == ["a", "b"] * 3
    assert [len(seconds) for seconds in taken.values()] == [2, 2]
    assert bench.time_command([sys.executable, "-c", "pass"], {}) > 0
