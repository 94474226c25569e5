"""JSON mode through the real program: what stands on which stream, and the last line on every path."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakes.pipe import Answer, lines_of
from fakes.program import Program, marid
from fakes.real_app import chat_requests
from marid.testing import Gate, ModelServer, Stall, call, say

__all__ = ["marid"]

KEY = "sk-canary-0123456789"
JSON = [sys.executable, "-m", "marid", "json"]
VERSION = b'{"command": "show_version", "context": "x"}'


def asked(program: Program, given: Mapping[str, Any] | bytes, *flags: str) -> Answer:
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    done = program.apart("json", *flags, given=data)
    return Answer(code=done.code, out=lines_of(done.out), err=lines_of(done.err.encode()))


def prompt(server: ModelServer, words: str = "hi", **more: Any) -> dict[str, Any]:
    config = {"base_url": server.openai, "model": "scripted-model", "api_key": KEY}
    return {"command": {"send_prompt": {"prompt": words}}, "context": "talk", "config": config, **more}


@contextmanager
def started(given: Mapping[str, Any], stdout: int | None = None) -> Generator["subprocess.Popen[bytes]"]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(JSON, stdin=pipe, stdout=pipe if stdout is None else stdout, stderr=pipe)
    try:
        assert process.stdin
        process.stdin.write(json.dumps(given).encode())
        process.stdin.close()
        process.stdin = None
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_conversation_goes_on_from_call_to_call(marid: Program) -> None:
    with ModelServer([say("Hello ", "Ann"), say("Still here")]) as server:
        first = asked(marid, prompt(server, "I am Ann"))
        second = asked(marid, prompt(server, "who am I?"))
        assert "I am Ann" in json.dumps(chat_requests(server)[1].body)
    assert (first.code, second.code) == (0, 0)
    assert [entry["content"] for entry in (first.entries[-1], second.entries[-1])] == ["Hello Ann", "Still here"]
    log = asked(marid, {"command": {"show_log": {"count": 0}}, "context": "talk"})
    assert log.out == [*first.entries, *second.entries]
    listed = asked(marid, {"command": "list_contexts", "context": "other"})
    assert listed.contents == ["talk"]


def test_every_line_of_stdout_is_a_result_or_an_entry_and_every_line_of_stderr_an_event(marid: Program) -> None:
    with ModelServer([say("I look", calls=[call("get_tree", {"path": "."})]), say("done")]) as server:
        answer = asked(marid, prompt(server), "--trust")
    assert all("type" in line or "entry_type" in line for line in answer.out)
    assert all("type" in line for line in answer.err)
    assert [line["type"] for line in answer.err].count("done") == 1
    assert answer.done == {"type": "done", "ok": True}
    assert KEY not in json.dumps([answer.out, answer.err])


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "invalid_input"),
        (b"\xff\xfe", "invalid_input"),
        (b"[" * 100_000, "invalid_input"),
        (b'{"command": "no_op", "command": "no_op", "context": "x"}', "invalid_input"),
        (b'{"command": "no_op", "context": "../../x"}', "invalid_input"),
        (b'{"command": "no_op", "context": "x", "overrides": {"fuel": "much"}}', "invalid_input"),
        (b'{"command": {"call_tool": {"name": "nonsense", "args": []}}, "context": "x"}', "not_found"),
    ],
)
def test_what_is_wrong_is_told_by_the_last_line_alone(marid: Program, data: bytes, code: str) -> None:
    answer = asked(marid, data)
    assert answer.out == []
    assert (answer.code, answer.done["ok"], answer.done["code"]) == (4 if code == "not_found" else 2, False, code)
    assert answer.done["message"]


def test_a_name_that_is_taken_already_exists(marid: Program) -> None:
    for name in ("a", "b"):
        asked(marid, {"command": {"set_system_prompt": {"prompt": "x"}}, "context": name})
    answer = asked(marid, {"command": {"rename_context": {"new": "b"}}, "context": "a"})
    assert (answer.code, answer.done["code"]) == (2, "already_exists")


@pytest.mark.parametrize("name", ["config.toml", "models.toml", "cli.toml", "contexts/x/local.toml"])
def test_a_settings_file_that_cannot_be_read_is_invalid_data(marid: Program, tmp_path: Path, name: str) -> None:
    (tmp_path / "home" / "contexts" / "x").mkdir(parents=True)
    (tmp_path / "home" / name).write_text("fuel = = 3\n")
    answer = asked(marid, {"command": "no_op", "context": "x"})
    assert (answer.code, answer.out, answer.done["code"]) == (2, [], "invalid_data")
    assert f"{name}:1" in answer.done["message"]


def test_a_conversation_that_somebody_else_works_in_is_not_to_be_had_and_the_holder_is_named(marid: Program) -> None:
    gate = Gate()
    with ModelServer([say("never", faults=[Stall(gate=gate)])]) as server, started(prompt(server)) as process:
        assert gate.wait(30)
        commands: list[Any] = [{"send_prompt": {"prompt": "me too"}}, {"destroy_context": {}}]
        for command in commands:
            answer = asked(marid, {"command": command, "context": "talk"})
            assert (answer.code, answer.out, answer.done["code"]) == (6, [], "already_exists")
            assert str(process.pid) in answer.done["message"]


def test_a_service_that_fails_is_an_internal_error_and_what_was_said_is_kept(marid: Program) -> None:
    with ModelServer([]) as server:
        answer = asked(marid, prompt(server, "remember this"))
    assert (answer.code, answer.done["code"]) == (6, "internal_error")
    log = asked(marid, {"command": {"show_log": {"count": 0}}, "context": "talk"})
    assert "remember this" in log.entries[0]["content"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_whoever_is_told_to_end_keeps_what_there_is(marid: Program, number: signal.Signals, status: int) -> None:
    gate = Gate()
    first = say("I look", calls=[call("get_tree", {"path": "."})])
    with ModelServer([first, say("never", faults=[Stall(gate=gate)])]) as server:
        with started(prompt(server)) as process:
            assert gate.wait(30)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        assert server.wait_for_end(chat_requests(server)[1].number) == "left"
    assert process.returncode == status
    message = f"interrupted ({number.name})"
    assert lines_of(err)[-1] == {"type": "done", "ok": False, "code": "internal_error", "message": message}
    log = asked(marid, {"command": {"show_log": {"count": 0}}, "context": "talk"})
    assert [entry["entry_type"] for entry in log.entries][:4] == ["message", "message", "tool_call", "tool_result"]
    assert lines_of(out) == log.entries[: len(lines_of(out))]
    assert len(lines_of(out)) >= 4


def test_whoever_is_told_to_end_before_anything_was_asked_says_so_too(marid: Program) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(JSON, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin
        # More than a pipe holds: this returns when it has begun to read.
        process.stdin.write(b" " * 200_000)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (143, b"")
    assert lines_of(err)[-1]["message"] == "interrupted (SIGTERM)"


def test_a_reader_of_results_who_has_gone_ends_it_and_the_last_line_says_so(marid: Program) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with ModelServer([say("Hello")]) as server, started(prompt(server), stdout=writing) as process:
        os.close(writing)
        _, err = process.communicate(timeout=30)
    last = lines_of(err)[-1]
    assert (process.returncode, last["ok"], last["code"]) == (6, False, "internal_error")
    assert "stdout" in last["message"]


def test_results_that_a_full_disk_refuses_are_told(marid: Program) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(JSON, input=VERSION, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert (done.returncode, lines_of(done.stderr)[-1]["code"]) == (6, "internal_error")


def test_events_that_nobody_reads_disturb_nobody(marid: Program) -> None:
    closing = [sys.executable, "-c", "import os, sys; os.close(2); os.execv(sys.argv[1], sys.argv[1:])"]
    done = subprocess.run([*closing, *JSON], input=VERSION, stdout=subprocess.PIPE, check=False, timeout=60)
    assert (done.returncode, lines_of(done.stdout)[0]["type"]) == (0, "result")


def test_nothing_is_written_where_only_looked_at(marid: Program, tmp_path: Path) -> None:
    for command in ("list_contexts", "list_current_context", "show_help", "no_op"):
        assert asked(marid, {"command": command, "context": "x"}).code == 0
    assert not (tmp_path / "home" / "contexts" / "x").exists()


def test_by_the_name_of_the_program_it_replaces_it_is_that_program(marid: Program, tmp_path: Path) -> None:
    program = tmp_path / "chibi-json"
    program.write_text(f"#!{sys.executable}\nfrom marid.__main__ import main\nmain()\n")
    program.chmod(0o755)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.txt").write_text("x")
    places = {"home": str(tmp_path / "one"), "project_root": str(tmp_path / "elsewhere")}

    def run(command: Any, *flags: str) -> Any:
        given = json.dumps({"command": command, "context": "x", **places}).encode()
        done = subprocess.run([program, *flags], input=given, capture_output=True, check=True, timeout=60)
        assert lines_of(done.stderr)[-1] == {"type": "done", "ok": True}
        return lines_of(done.stdout)[0]["content"]

    assert "b.txt" in run({"call_tool": {"name": "get_tree", "args": ['{"path": "."}']}})
    assert run({"inspect": {"thing": "home"}}) == str(tmp_path / "one")
    assert run({"inspect": {"thing": "home"}}, "--home", str(tmp_path / "two")) == str(tmp_path / "two")
