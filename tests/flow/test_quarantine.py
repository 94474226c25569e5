"""Nothing of ours appears in the user's tree while commands run, and what they may not create does not stay in it."""

import ctypes
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes.program import Program, marid
from fakes.sandbox import bubblewrap_or_waiver

__all__ = ["marid"]

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
_EVERYTHING = 0x100 | 0x200 | 0x40 | 0x80  # created, deleted, moved from, moved to


@contextmanager
def watched(folder: Path) -> Generator[set[str]]:
    """The names that come to be in a folder, or leave it, by the kernel's own account."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    assert libc.inotify_add_watch(fd, os.fsencode(folder), _EVERYTHING) > 0
    names: set[str] = set()
    yield names
    try:
        while data := os.read(fd, 1 << 16):
            while data:
                _, mask, _, size = struct.unpack_from("iIII", data)
                assert not mask & 0x4000, "the queue has overflowed"
                names.add(data[16 : 16 + size].rstrip(b"\0").decode())
                data = data[16 + size :]
    except BlockingIOError:
        os.close(fd)


def start(command: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "marid", "tool", "run_shell", "--allow", "exec", "--command", command]
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def run_and_end_commands(marid: Program, count: int) -> None:
    bubblewrap_or_waiver()
    with watched(marid.folder) as names:
        for number in range(count):
            ended_by = SIGNALS[number // 2 % len(SIGNALS)] if number % 2 else None
            with start(f"touch made-{number}; {'sleep 600' if ended_by else 'true'}") as process:
                wait_for(marid.folder / f"made-{number}", process)
                if ended_by:
                    process.send_signal(ended_by)
                process.communicate()
    assert names == {f"made-{number}" for number in range(count)}


def test_no_other_names_come_to_be_while_commands_run_and_are_killed(marid: Program) -> None:
    run_and_end_commands(marid, 16)


@pytest.mark.soak
def test_no_other_names_come_to_be_for_long(marid: Program) -> None:
    run_and_end_commands(marid, 200)


def kill_a_command(marid: Program) -> None:
    """One that has created what it may not create."""
    bubblewrap_or_waiver()
    with start("mkdir .vscode; mkfifo alive; touch made; exec 9> alive; sleep 600") as process:
        wait_for(marid.folder / "made", process)
        with open(marid.folder / "alive", "rb") as alive:
            process.kill()
            alive.read()  # until the command is dead, too
    assert (marid.folder / ".vscode").exists()


def test_the_person_and_the_model_read_what_was_moved(marid: Program) -> None:
    bubblewrap_or_waiver()
    done = marid.apart("tool", "run_shell", "--allow", "exec", "--command", "mkdir .vscode")
    note = f"moved to quarantine: {marid.folder}/.vscode, which commands may not create; "
    assert f"NOTE: {note}" in done.text
    assert f"marid: {note}" in done.err
    assert list(marid.folder.iterdir()) == []


def test_after_a_kill_the_next_call_of_any_tool_moves_it_away(marid: Program) -> None:
    kill_a_command(marid)
    done = marid.apart("tool", "get_tree")
    assert f"marid: moved to quarantine: {marid.folder}/.vscode" in done.err
    assert "quarantine" not in done.text
    assert not (marid.folder / ".vscode").exists()


def test_after_a_kill_the_next_command_tells_the_model(marid: Program) -> None:
    kill_a_command(marid)
    done = marid.apart("tool", "run_shell", "--allow", "exec", "--command", "true")
    assert done.err.count("moved to quarantine") == 1
    assert f"NOTE: moved to quarantine: {marid.folder}/.vscode" in done.text


def test_after_a_kill_the_list_is_complete(marid: Program) -> None:
    kill_a_command(marid)
    done = marid("quarantine")
    assert done.text.endswith(f"  {marid.folder}/.vscode\n")
    assert not (marid.folder / ".vscode").exists()
