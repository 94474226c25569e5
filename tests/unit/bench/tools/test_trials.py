import ast
from pathlib import Path

import anyio
from bench.tools.sources import LINES, chain, long_python
from bench.tools.trials import HEADS, Measured, Trial, markdown, measure, table


async def nothing() -> None:
    """Takes no time."""


def trial(*, times: float = 2.0, extra: float = 0.0, calls: int = 1) -> Trial:
    return Trial(name="ours", floor_name="floor", ours=nothing, floor=nothing, times=times, extra=extra, calls=calls)


def test_the_bar_is_a_multiple_of_the_floor_plus_something_a_call() -> None:
    assert Measured(trial=trial(), ours=[1.9, 9.0, 2.5], floor=[1.0]).verdict() == "PASS"
    assert Measured(trial=trial(), ours=[2.1], floor=[1.0]).verdict() == "FAIL"
    assert Measured(trial=trial(extra=0.01, calls=100), ours=[2.9], floor=[1.0]).verdict() == "PASS"
    assert Measured(trial=trial(times=0.0), ours=[99.0], floor=[1.0]).verdict() == ""


def test_everything_is_run_as_often_as_asked_and_once_more_to_warm_up() -> None:
    runs: list[str] = []

    async def ours() -> None:
        runs.append("ours")

    async def floor() -> None:
        runs.append("floor")

    one = Trial(name="ours", floor_name="floor", ours=ours, floor=floor)
    (found,) = anyio.run(measure, [one], 3)
    assert (len(found.ours), len(found.floor), len(runs)) == (3, 3, 8)


def test_the_tables_show_all() -> None:
    found = Measured(trial=trial(extra=0.001), ours=[0.002], floor=[0.001])
    first, second = table([found]).split("\n")
    assert first.split()[0] == HEADS[0]
    assert second.split() == ["ours", "2.00", "1.00", "floor", "2.00x", "2x", "+", "1", "ms", "PASS"]
    assert "| ours | 2.00 | floor | 1.00 | 2.00x | 2.0x + 1 ms |" in markdown([found.facts()])


def test_the_long_python_file_parses_and_is_long() -> None:
    text = long_python()
    ast.parse(text)
    assert LINES * 0.9 < text.count("\n") <= LINES + 1


def test_the_chain_runs(tmp_path: Path) -> None:
    chain(tmp_path / "chain", 3)
    names = sorted(file.name for file in (tmp_path / "chain").iterdir())
    assert names == ["__init__.py", "step0.py", "step1.py", "step2.py"]
    for file in (tmp_path / "chain").iterdir():
        ast.parse(file.read_text())
