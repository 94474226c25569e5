import io
import os
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from fakes.program import Program
from marid import __version__
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
        "marid: a bug: UnsupportedOperation: fileno\nRun `marid --debug all ...` to see where.\n"
    )


def test_a_bug_shows_where_it_is_when_asked(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with redirect_stdout(io.StringIO()):
        assert run(["marid", "--debug", "all", "--home", str(tmp_path), "context", str(tmp_path)]) == 70
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
    assert (done.returncode, done.stderr) == (6, b"marid: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("args", [["--bogus"], ["log", "--bogus"], ["-c", "a/b"]], ids=" ".join)
def test_what_cannot_be_told_changes_no_exit_code(marid: Program, args: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "marid", *args]
        assert subprocess.run(command, stderr=full, timeout=60, check=False).returncode == 2


def test_help_and_version_count_wherever_they_stand(marid: Program) -> None:
    assert marid("-v", "--version").text == marid("what", "-V").text == f"marid {__version__}\n"
    assert marid("hello", "-h").text.startswith("Usage: marid ")


def test_what_is_piped_in_is_said_and_a_line_without_anything_helps(marid: Program) -> None:
    assert b"offline" in marid.apart(given=b"hello").out
    told = marid.apart(given=b"")
    assert (told.code, told.out) == (2, b"")
    for nothing in ("</dev/null", "<&-"):
        script = f'"{sys.executable}" -m marid {nothing}'
        done = subprocess.run(["sh", "-c", script], capture_output=True, timeout=60, check=True)
        assert done.stdout.startswith(b"Usage: marid")


def test_a_bug_shows_where_it_is_with_keys_too(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with redirect_stdout(io.StringIO()):
        assert run(["marid", "--debug=all", "--home", str(tmp_path), "context", str(tmp_path)]) == 70
    assert capfd.readouterr().err.startswith("Traceback")


def test_an_unknown_key_after_debug_is_told_and_not_said(marid: Program) -> None:
    told = marid("--debug", "bogus", "say", "--debug", "reqest-log", "hi")
    assert told.code == 0
    assert told.err.count("--debug: unknown key 'bogus', ignored") == 1
    assert told.err.count("did you mean 'request-log'?") == 1
    assert "bogus" not in marid("log").text


def test_a_key_that_only_contains_the_one_of_a_page_is_unknown(marid: Program) -> None:
    told = marid("--debug", "xmd=README.md", "say", "hi")
    assert (told.code, told.err.count("unknown key 'xmd=README.md', ignored")) == (0, 1)


def test_an_unknown_key_after_debug_puts_no_plain_line_among_the_events(marid: Program) -> None:
    told = marid.apart("--debug", "bogus", "json", given=b'{"command": "no_op", "context": "x"}')
    assert told.err.startswith("{")
    assert "bogus" not in told.err


def test_a_command_where_keys_of_debug_belong_is_refused(marid: Program) -> None:
    told = marid("--debug", "context", ".")
    assert (told.code, told.text) == (2, "")
    assert "write `marid --debug all context`" in told.err


@pytest.mark.parametrize("name", ["", " ", "a\nb"])
def test_a_user_s_name_is_a_line_wherever_it_is_given(marid: Program, name: str) -> None:
    for args in (["-U", name], ["-s", f"username={name}"], ["-u", name], ["say", "-U", name], ["-U", name, "say"]):
        told = marid(*args, "hello")
        assert told.code == 2
        assert "'username' must be a line of text" in told.err
    Path(os.environ["MARID_HOME"]).mkdir(exist_ok=True)
    Path(os.environ["MARID_HOME"], "config.toml").write_text(f"fuel = 1\nusername = {name!r}\n".replace("'", '"'))
    assert "config.toml:2: 'username' must be a line of text" in marid("hello").err


@pytest.mark.parametrize("args", [["-U", "a\udcff"], ["say", "-U", "a\udcff"], ["-U", "a\udcff", "say"]])
def test_bytes_of_a_name_that_are_no_utf_8_are_replaced_and_told_once(marid: Program, args: list[str]) -> None:
    told = marid(*args, "hello")
    assert (told.code, told.err.count("not all of the input is UTF-8")) == (0, 1)
    assert "[a\ufffd]" in marid("log").text
