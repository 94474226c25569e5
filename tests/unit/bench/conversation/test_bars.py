"""What is measured, on a small scale; how fast it is does not matter here."""

import os
from pathlib import Path

from bench.bars import Bar
from bench.conversation.__main__ import appends, crowded, sizes


def test_every_way_of_appending_gets_a_row(tmp_path: Path) -> None:
    rows = appends(tmp_path, 1)
    assert [row.limit for row in rows] == ["", "<= 1.3", ">= 4", ""]
    assert all(row.value > 0 for row in rows)


def test_large_and_small_conversations_are_made_once_and_compared(tmp_path: Path) -> None:
    first = sizes(tmp_path, 2000)
    assert [row.limit for row in first] == ["", "< 5", "<= 3", "< 50", "", ""]
    stamp = (tmp_path / "2000/planted-2").stat().st_mtime_ns
    sizes(tmp_path, 2000)
    assert (tmp_path / "2000/planted-2").stat().st_mtime_ns == stamp


def test_a_slower_disk_is_slow_only_while_it_is_measured(tmp_path: Path) -> None:
    sync = os.fdatasync
    [bar] = crowded(tmp_path, 1)
    assert os.fdatasync is sync
    assert bar.value > 0
    assert bar.holds is None


def test_a_row_shows_the_limit_and_whether_it_holds() -> None:
    assert Bar("speed", 2.0, ">= 4", holds=False).row().split() == ["speed", "2.00", ">=", "4", "FAIL"]
    assert Bar("size", 2.0).row().split() == ["size", "2.00"]
