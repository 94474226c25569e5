from marid.core.round_events import FuelStatus
from marid.engine.fuel import FuelBudget


def test_fuel_is_used_up_and_never_below_nothing() -> None:
    fuel = FuelBudget(2)
    assert (fuel.is_limited, fuel.is_exhausted, fuel.level) == (True, False, (2, 2))
    fuel.spend()
    assert fuel.level == (1, 2)
    fuel.spend(15)
    assert (fuel.is_exhausted, fuel.level) == (True, (0, 2))


def test_without_a_limit_nothing_runs_out() -> None:
    fuel = FuelBudget(0)
    fuel.spend(100)
    assert (fuel.is_limited, fuel.is_exhausted, fuel.level) == (False, False, None)


def test_the_status_shows_the_beginning_of_a_prompt() -> None:
    fuel = FuelBudget(3)
    assert fuel.status("after_continuation", "x" * 80) == FuelStatus(3, 3, "after_continuation", "x" * 80)
    assert fuel.status("after_continuation", "x" * 81).preview == "x" * 77 + "..."
