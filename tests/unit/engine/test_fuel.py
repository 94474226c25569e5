from marid.core.round_events import FuelExhausted, FuelStatus, RoundEvent
from marid.engine.fuel import FuelBudget


def test_fuel_is_used_up_and_never_below_nothing() -> None:
    tank = FuelBudget(2, lambda what: None)
    assert (tank.is_limited, tank.is_exhausted, tank.level) == (True, False, (2, 2))
    tank.spend()
    assert tank.level == (1, 2)
    tank.spend(15)
    assert (tank.is_exhausted, tank.level) == (True, (0, 2))


def test_without_a_limit_nothing_is_told_and_nothing_runs_out() -> None:
    heard: list[RoundEvent] = []
    tank = FuelBudget(0, heard.append)
    tank.spend(100)
    tank.report("entering_turn")
    assert (tank.is_limited, tank.is_exhausted, tank.level, heard) == (False, False, None, [])


def test_of_a_prompt_the_beginning_is_told() -> None:
    heard: list[RoundEvent] = []
    tank = FuelBudget(3, heard.append)
    tank.report("after_continuation", "x" * 80)
    tank.report("after_continuation", "x" * 81)
    tank.report_exhausted()
    assert heard == [
        FuelStatus(3, 3, "after_continuation", "x" * 80),
        FuelStatus(3, 3, "after_continuation", "x" * 77 + "..."),
        FuelExhausted(3),
    ]
