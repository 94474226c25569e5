"""How long to wait before the next try."""

import pytest

from marid.adapters.gateway.retry_policy import RetryPolicy

STERN = RetryPolicy(jitter=lambda: 1.0)


def test_each_wait_is_twice_the_last_up_to_the_longest() -> None:
    assert [STERN.delay(failures, None) for failures in (0, 1, 2, 10)] == [0.5, 1.0, 2.0, 30.0]


def test_chance_takes_no_more_than_half_of_a_wait() -> None:
    assert [RetryPolicy(jitter=lambda: 0.0).delay(failures, None) for failures in (0, 3)] == [0.25, 2.0]


@pytest.mark.parametrize(("asked", "waits"), [(7.0, 7.0), (0.0, 0.0), (-5.0, 0.0), (1.5, 1.5)])
def test_what_the_service_asks_for_counts(asked: float, waits: float) -> None:
    assert STERN.delay(0, asked) == waits
