import io
import os
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from fakes.program import Program
from marid.core.errors import FAMILIES
from marid.launch.start import run


def test_the_exit_code_tells_the_family_of_the_error(marid: Program) -> None:
    marid.context("--lock", "my.lock")
    marid.write({"a.py": "x" * 2000})
    calls = {
        "bad_input": ["context", "--watch"],
        "refused": ["context", "--lock", "my.lock", "--frozen"],
        "not_found": ["context", "gone"],
        "exhausted": ["context", "--max-size-mb", "0.001"],
        "unavailable": ["context", "-o", "/dev/full"],
    }
    assert list(calls) == [family.code for family in FAMILIES]
    told = [marid(*args) for args in calls.values()]
    assert [one.code for one in told] == [2, 3, 4, 5, 6]
    assert [one.out for one in told] == [b""] * 5
    assert all(one.err.startswith("marid: ") for one in told)


def test_a_plain_command_line_and_one_for_click_end_alike(marid: Program) -> None:
    marid.write({"a.py": "x\n"})
    assert marid.context("-l", "-q") == marid.context("-lq")
    assert marid.context("gone") == marid("--home", str(marid.folder / "h"), "context", "gone")


def test_a_reader_who_has_seen_enough_ends_the_program_quietly(marid: Program) -> None:
    marid.write({f"{n}.py": "x" * 1000 for n in range(2000)})
    for options in ("", "--max-size-mb 50"):
        script = f'"{sys.executable}" -m marid context {options} | head -n 1; echo "${{PIPESTATUS[0]}}"'
        done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60, check=True)
        assert (done.stdout, done.stderr) == (b"File: 0.py\n0\n", b"")


def test_a_reader_who_has_gone_before_is_no_error_either(marid: Program) -> None:
    marid.write({"a.py": "x"})
    for args in (["context"], ["context", "--max-size-mb", "5"], ["overview"], ["completion", "bash"]):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w") as pipe, redirect_stdout(pipe):
            told = marid(*args)
        assert (told.code, told.err) == (0, "")


def test_a_bug_is_told_with_a_hint(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with redirect_stdout(io.StringIO()):  # which is no file: nobody can start us like that
        assert run(["marid", "context", str(tmp_path)]) == 70
    assert capfd.readouterr().err == (
        "marid: a bug: UnsupportedOperation: fileno\nRun it with `marid --debug ...` to see where.\n"
    )


def test_a_bug_shows_where_it_is_when_asked(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with redirect_stdout(io.StringIO()):
        assert run(["marid", "--debug", "--home", str(tmp_path), "context", str(tmp_path)]) == 70
    err = capfd.readouterr().err
    assert err.startswith("Traceback")
    assert "UnsupportedOperation: fileno" in err


def interrupted(pipe: Path, *args: str) -> tuple[int, bytes]:
    """Exit code and words of a program that is interrupted while it reads from `pipe`."""
    command = [sys.executable, "-m", "marid", *args]
    # The pipe opens as soon as the program waits at its other end.
    with subprocess.Popen(command, stderr=subprocess.PIPE) as started, pipe.open("wb", buffering=0):
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=60)
        return started.returncode, err


def test_ctrl_c_ends_with_130_and_leaves_nothing_behind(marid: Program) -> None:
    marid.write({"a.py": "x", "out.txt": "old"})
    pipe = marid.folder.parent / "pipe"
    os.mkfifo(pipe)
    args = ["context", "--files-from", str(pipe), "-o", "out.txt"]
    assert interrupted(pipe, *args) == (130, b"")
    assert sorted(os.listdir(marid.folder)) == ["a.py", "out.txt"]
    assert (marid.folder / "out.txt").read_text() == "old"


def test_ctrl_c_by_way_of_click_ends_alike(marid: Program) -> None:
    marid.write({"a.py": "x"})
    pipe = marid.folder.parent / "pipe"
    os.mkfifo(pipe)
    args = ["context", "--budget", "100", "--files-from", str(pipe)]
    assert interrupted(pipe, *args) == (130, b"")


@pytest.mark.parametrize("args", [["tools"], ["tools", "--json"], ["tool", "--help"], ["completion", "bash"]])
def test_a_full_disk_is_no_bug(marid: Program, args: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "marid", *args]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (6, b"marid: the output cannot be written: No space left on device\n")
