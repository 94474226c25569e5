from marid.toolkit.approval_broker import AskRateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_same_question_is_asked_only_so_often_in_a_minute() -> None:
    clock = Clock()
    pace = AskRateLimit(max_same=3, clock=clock)
    assert [pace.try_acquire("a", "q") for _ in range(5)] == [True, True, True, False, False]
    assert pace.try_acquire("a", "another")
    assert pace.try_acquire("b", "q")
    clock.now = 61.0
    assert pace.try_acquire("a", "q")


def test_one_caller_asks_only_so_much_in_a_minute() -> None:
    clock = Clock()
    pace = AskRateLimit(max_total=5, clock=clock)
    assert [pace.try_acquire("a", f"{number}") for number in range(7)] == [True] * 5 + [False] * 2
    assert pace.try_acquire("b", "x")
    clock.now = 61.0
    assert pace.try_acquire("a", "1")
