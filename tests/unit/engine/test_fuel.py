from marid.core.rounds import Fuel, FuelExhausted, RoundHappening
from marid.engine.fuel import Tank


def test_fuel_is_used_up_and_never_below_nothing() -> None:
    tank = Tank(2, lambda what: None)
    assert (tank.limited, tank.spent, tank.level) == (True, False, (2, 2))
    tank.use()
    assert tank.level == (1, 2)
    tank.use(15)
    assert (tank.spent, tank.level) == (True, (0, 2))


def test_without_a_limit_nothing_is_told_and_nothing_runs_out() -> None:
    heard: list[RoundHappening] = []
    tank = Tank(0, heard.append)
    tank.use(100)
    tank.tell("entering_turn")
    assert (tank.limited, tank.spent, tank.level, heard) == (False, False, None, [])


def test_of_a_prompt_the_beginning_is_told() -> None:
    heard: list[RoundHappening] = []
    tank = Tank(3, heard.append)
    tank.tell("after_continuation", "x" * 80)
    tank.tell("after_continuation", "x" * 81)
    tank.tell_end()
    assert heard == [
        Fuel(3, 3, "after_continuation", "x" * 80),
        Fuel(3, 3, "after_continuation", "x" * 77 + "..."),
        FuelExhausted(3),
    ]
