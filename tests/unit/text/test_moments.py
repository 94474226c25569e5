import time

from marid.text.moments import when


def test_a_moment_is_told_in_local_time_and_never_is_nothing() -> None:
    assert when(0) == ""
    assert when(1_800_000_000_000) == time.strftime("%Y-%m-%d %H:%M", time.localtime(1_800_000_000))
