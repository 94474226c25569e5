import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from marid.adapters.session_log import CALLS, SessionLog
from marid.core.caller import Caller
from marid.ports.audit import AuditRecord

# Made up, but of the form that is masked.
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def _record(**given: Any) -> AuditRecord:
    base: dict[str, Any] = {
        "time": 1_700_000_000.25,
        "call": "c1",
        "caller": Caller(face="mcp", conversation="talk"),
        "tool": "write_file",
        "effect": "write",
        "verdict": "ask",
        "approval": "abc",
        "code": "ok",
        "message": "",
        "seconds": 0.0123456789,
        "size": 5,
        "args": {"path": "a.py"},
    }
    return AuditRecord(**{**base, **given})


def new_log(home: Path, *, write_delay: float = 0) -> SessionLog:
    return SessionLog(str(home), "mcp", clock=lambda: 1_700_000_000.0, write_delay=write_delay)


@pytest.fixture
def log(tmp_path: Path) -> SessionLog:
    return new_log(tmp_path)


def _folder(home: Path) -> Path:
    return home / "logs" / "sessions" / "20231114_221320_mcp"


def _lines(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_folder(home) / CALLS).read_text().splitlines()]


def test_every_call_is_a_line(log: SessionLog, tmp_path: Path) -> None:
    assert log.record(_record()) is None
    assert log.record(_record(code="internal", message="no", trace="Traceback ...", durable=True)) is None
    first, second = _lines(tmp_path)
    assert first == {
        "time": "2023-11-14T22:13:20.250Z",
        "call": "c1",
        "caller": {"face": "mcp", "conversation": "talk"},
        "tool": "write_file",
        "effect": "write",
        "verdict": "ask",
        "approval": "abc",
        "code": "ok",
        "message": "",
        "seconds": 0.012346,
        "size": 5,
        "digest": "",
        "args": {"path": "a.py"},
    }
    assert (second["code"], second["message"], second["trace"]) == ("internal", "no", "Traceback ...")


def test_only_the_owner_may_read_it(log: SessionLog, tmp_path: Path) -> None:
    log.record(_record())
    log.save_script("ls", ".sh")
    assert _folder(tmp_path).stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in _folder(tmp_path).iterdir()} == {0o600}


def test_nothing_is_made_before_the_first_record(log: SessionLog, tmp_path: Path) -> None:
    log.close()
    assert list(tmp_path.iterdir()) == []


def test_secrets_are_masked_and_a_masked_line_is_still_json(log: SessionLog, tmp_path: Path) -> None:
    log.record(_record(args={"text": f"key {KEY}", "password": "hunter2-Xk29!qQ"}, message=KEY, trace=KEY))
    log.record(_record(args={"a": f'"{KEY}"', "api_key": "x\\" + KEY, "env": f"PASSWORD='{KEY}'\nB={KEY}"}))
    path = log.save_script(f"export TOKEN={KEY}", ".sh")
    assert path is not None
    assert "[masked:" in Path(path).read_text()
    assert [line["tool"] for line in _lines(tmp_path)] == ["write_file"] * 2
    texts = (_folder(tmp_path) / CALLS).read_text() + Path(path).read_text()
    assert KEY not in texts
    assert "hunter2-Xk29!qQ" not in texts


def test_a_secret_that_goes_on_beyond_its_quotes_breaks_no_line(log: SessionLog, tmp_path: Path) -> None:
    half = "MIIEowIBAAKCAQEA7Xk29qQzR7vLm3" * 4
    begin, end = f"-----BEGIN RSA PRIVATE KEY-----\n{half}", f"{half}\n-----END RSA PRIVATE KEY-----"
    log.record(_record(message=begin, args={"a": end}))
    text = (_folder(tmp_path) / CALLS).read_text()
    assert half not in text
    assert _lines(tmp_path)[0]["tool"] == "write_file"


def test_long_arguments_are_cut_and_known_by_their_digest(log: SessionLog, tmp_path: Path) -> None:
    for end in "ab":
        log.record(_record(args={"path": "a", "n": 1, "content": "x" * 100_000 + end, "list": ["y" * 9000]}))
    one, two = _lines(tmp_path)
    assert one["args"] == two["args"]
    assert one["digest"] != two["digest"]
    assert one["args"]["path"] == "a"
    assert one["args"]["n"] == 1
    assert one["args"]["content"].endswith("… (100001 characters)")
    assert len(json.dumps(one)) < 10_000


def test_odd_arguments_are_kept_as_far_as_json_can(log: SessionLog, tmp_path: Path) -> None:
    log.record(_record(args={"path": "\ud800\u202e", "data": b"x", "list": [1, {"a": None}]}))
    assert _lines(tmp_path)[0]["args"] == {"path": "\ud800\u202e", "data": "b'x'", "list": [1, {"a": None}]}


def test_arguments_that_json_cannot_hold_break_nothing(log: SessionLog, tmp_path: Path) -> None:
    deep: list[object] = []
    for _ in range(200_000):
        deep = [deep]
    for value in (deep, {1: 2, "a": 3}):
        assert log.record(_record(args={"x": value})) is None
    assert [list(line["args"]) for line in _lines(tmp_path)] == [["unreadable"], ["unreadable"]]


def test_scripts_are_numbered(log: SessionLog, tmp_path: Path) -> None:
    assert log.save_script("ls -la\n", ".sh") == str(_folder(tmp_path) / "0001.sh")
    assert log.save_script("dir\ud800", ".ps1") == str(_folder(tmp_path) / "0002.ps1")
    assert (_folder(tmp_path) / "0001.sh").read_text() == "ls -la\n"


def test_two_processes_of_one_second_have_a_folder_each(log: SessionLog, tmp_path: Path) -> None:
    log.record(_record())
    other = new_log(tmp_path)
    other.record(_record())
    names = sorted(folder.name for folder in _folder(tmp_path).parent.iterdir())
    assert names == ["20231114_221320_mcp", "20231114_221320_mcp_2"]


def test_a_label_is_no_path(tmp_path: Path) -> None:
    SessionLog(str(tmp_path), "../x y/é", clock=lambda: 0.0, write_delay=0).record(_record())
    assert [folder.name for folder in (tmp_path / "logs" / "sessions").iterdir()] == ["19700101_000000_..-x-y--"]


def test_a_log_that_was_closed_goes_on(log: SessionLog, tmp_path: Path) -> None:
    log.record(_record())
    log.close()
    log.record(_record())
    assert len(_lines(tmp_path)) == 2


def test_a_log_that_cannot_be_written_is_reported_once_and_stops_no_call(tmp_path: Path) -> None:
    (tmp_path / "logs").touch()
    log = SessionLog(str(tmp_path), "mcp", write_delay=0)
    problem = log.record(_record())
    assert problem is not None
    assert problem.startswith("the session log is not kept: ")
    assert log.record(_record()) is None
    assert log.save_script("ls", ".sh") is None


def test_when_all_names_of_a_second_are_taken_it_is_reported(log: SessionLog, tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    for number in range(1, 1000):
        folder.with_name(folder.name + (f"_{number}" if number > 1 else "")).mkdir(parents=True)
    assert log.record(_record()) == "the session log is not kept: too many logs were started in this second"


def test_what_need_not_be_durable_is_written_soon(tmp_path: Path) -> None:
    log = new_log(tmp_path, write_delay=0.01)
    for number in range(3):
        log.record(_record(call=str(number)))
    end = time.monotonic() + 30
    while not (_folder(tmp_path) / CALLS).exists() or len(_lines(tmp_path)) < 3:
        assert time.monotonic() < end
    assert [line["call"] for line in _lines(tmp_path)] == ["0", "1", "2"]


def test_what_is_durable_takes_all_before_it_to_the_disk(tmp_path: Path) -> None:
    log = new_log(tmp_path, write_delay=60)
    log.record(_record(call="first"))
    log.record(_record(call="second", durable=True))
    assert [line["call"] for line in _lines(tmp_path)] == ["first", "second"]


def test_what_is_left_is_written_at_the_end_of_the_program(tmp_path: Path) -> None:
    script = f"""
from pathlib import Path
from test_session_log import _record, new_log
log = new_log(Path({str(tmp_path)!r}), write_delay=60)
log.record(_record())
"""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": path}, timeout=60)
    assert len(_lines(tmp_path)) == 1


def test_the_thread_that_writes_ends_when_there_is_nothing_to_write(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    log = new_log(tmp_path, write_delay=0.001)
    log.record(_record())
    end = time.monotonic() + 30
    while any(thread.name == "marid log" for thread in set(threading.enumerate()) - before):
        assert time.monotonic() < end
    log.record(_record())
    log.close()
    assert len(_lines(tmp_path)) == 2


def test_keys_that_are_known_are_masked_whatever_their_form(tmp_path: Path) -> None:
    log = SessionLog(str(tmp_path), "t", secrets=["plain-word"], write_delay=0)
    log.record(_record(args={"command": "echo plain-word"}))
    log.save_script("echo plain-word", ".sh")
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(texts) == 2
    assert all("plain-word" not in text and "[masked]" in text for text in texts)
