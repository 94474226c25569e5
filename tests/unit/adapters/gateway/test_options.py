"""The options of a gateway: retries and the log of requests."""

import json
import os
import stat
from pathlib import Path

import pytest

from marid.adapters.gateway.options import RetryPolicy, WireLogFiles
from marid.core.errors import Unavailable

STERN = RetryPolicy(jitter=lambda: 1.0)


def test_each_wait_is_twice_the_last_up_to_the_longest() -> None:
    assert [STERN.delay(failures, None) for failures in (0, 1, 2, 10)] == [0.5, 1.0, 2.0, 30.0]


def test_jitter_takes_at_most_half_of_a_wait() -> None:
    assert [RetryPolicy(jitter=lambda: 0.0).delay(failures, None) for failures in (0, 3)] == [0.25, 2.0]


@pytest.mark.parametrize(("asked", "waits"), [(7.0, 7.0), (0.0, 0.0), (-5.0, 0.0), (1.5, 1.5)])
def test_the_service_s_retry_after_wins(asked: float, waits: float) -> None:
    assert STERN.delay(0, asked) == waits


def test_records_are_lines_in_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    old = os.umask(0)
    try:
        log = WireLogFiles(requests=str(path))
        log("request", {"a": "é"})
        log("request", {"b": 2})
        log("response", {"c": 3})
    finally:
        os.umask(old)
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [{"a": "é"}, {"b": 2}]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["requests.jsonl"]


def test_a_log_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for name in ("no/where", "link"):
        with pytest.raises(Unavailable, match="cannot write the log"):
            WireLogFiles(responses=str(tmp_path / name))("response", {})
