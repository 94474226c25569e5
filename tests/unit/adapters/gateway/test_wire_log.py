"""The log of requests and answers."""

import json
import os
import stat
from pathlib import Path

import pytest

from marid.adapters.gateway.wire_log import WireLogFiles
from marid.core.errors import Unavailable


def test_records_are_lines_in_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    old = os.umask(0)
    try:
        journal = WireLogFiles(requests=str(path))
        journal.note("request", {"a": "é"})
        journal.note("request", {"b": 2})
        journal.note("response", {"c": 3})
    finally:
        os.umask(old)
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [{"a": "é"}, {"b": 2}]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["requests.jsonl"]


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot write the log"):
        WireLogFiles(responses=str(tmp_path / "no" / "where")).note("response", {})


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(Unavailable):
        WireLogFiles(requests=str(tmp_path / "link")).note("request", {})
