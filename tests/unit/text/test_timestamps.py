import time

from marid.text.timestamps import format_timestamp


def test_a_moment_is_told_in_local_time_and_never_is_nothing() -> None:
    assert format_timestamp(0) == ""
    assert format_timestamp(1_800_000_000_000) == time.strftime("%Y-%m-%d %H:%M", time.localtime(1_800_000_000))
