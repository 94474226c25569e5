"""What every audit promises: it keeps what it is given, raises nothing, and says once when it cannot."""

from pathlib import Path

import pytest

from fakes.ports import FakeAudit
from marid.adapters.session_log import SessionLog
from marid.core.caller import Caller
from marid.ports.audit import AuditLog, AuditRecord

RECORD = AuditRecord(
    *(1.0, "c1", Caller(face="cli"), "edit_file", "write", "allow", "", "ok", "", 0.1, 3), {"path": "a"}, durable=True
)


@pytest.fixture(params=["list", "file"])
def audit(request: pytest.FixtureRequest, tmp_path: Path) -> AuditLog:
    return FakeAudit() if request.param == "list" else SessionLog(str(tmp_path), "cli")


@pytest.fixture(params=["list", "file"])
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> AuditLog:
    (tmp_path / "home").touch()
    return FakeAudit("no room") if request.param == "list" else SessionLog(str(tmp_path / "home"), "cli")


def test_records_are_kept_without_a_word(audit: AuditLog) -> None:
    assert [audit.record(RECORD) for _ in range(3)] == [None] * 3


def test_a_script_is_kept_where_its_name_says(audit: AuditLog) -> None:
    where = audit.save_script("true\n", ".sh")
    assert where is not None
    assert where.endswith(".sh")


def test_one_that_is_broken_says_so_once_and_stops_nobody(broken: AuditLog) -> None:
    told = [broken.record(RECORD) for _ in range(3)]
    assert [word for word in told if word]
    assert told[1:] == [None, None]
