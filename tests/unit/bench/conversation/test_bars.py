"""What is measured, on a small scale; how fast it is does not matter here."""

import os
from functools import partial
from pathlib import Path

import anyio
from bench.bars import Bar
from bench.conversation import rounds
from bench.conversation.__main__ import appends, crowded, sizes
from bench.conversation.gateway import events

from marid.adapters.store.conversations import FileConversations
from marid.bootstrap.wiring import open_request
from marid.core.conversation.entry import ARCHIVAL, MESSAGE
from marid.testing import ModelServer, always, say


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


def test_every_dialect_is_asked_in_both_ways() -> None:
    bars = events(20, 1)
    assert [bar.limit for bar in bars] == ["", "<= 1.2"] * 3
    assert all(bar.value > 0 for bar in bars)


def test_it_runs_rounds_and_is_cleared_now_and_then(tmp_path: Path) -> None:
    scope = open_request(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={})
    with ModelServer([always(say("yes"))]) as server:
        talking = partial(rounds.talk, scope, server.openai, 2 * rounds.CLEARED_EVERY, 10)
        early, late = anyio.run(talking)
    assert early > 1_000_000
    assert late > 1_000_000
    read = FileConversations(str(tmp_path / "home")).read(rounds.NAME)
    assert len(list(read.entries(types=[MESSAGE]))) == 4 * rounds.CLEARED_EVERY
    assert len(list(read.entries(types=[ARCHIVAL]))) == 2
    assert len(read.window()) == 1


def test_the_growth_of_another_process_is_measured(tmp_path: Path) -> None:
    assert -50 < rounds.measure_growth(str(tmp_path), 20) < 50
