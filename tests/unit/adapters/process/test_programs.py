import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from marid.adapters.process import programs
from marid.adapters.process.programs import ProgramLimits, ProgramResult
from marid.core.errors import Exhausted, Unavailable

ENV = {"PATH": os.environ["PATH"]}
QUICK = ProgramLimits(timeout=0.3)


def shell(script: str, limits: ProgramLimits | None = None) -> ProgramResult:
    return programs.run(["/bin/sh", "-c", script], cwd="/", env=ENV, limits=limits or ProgramLimits())


@pytest.fixture
def lifeline(tmp_path: Path) -> Callable[[], bytes]:
    """A pipe that a child holds open; reading it returns when all who hold it are dead."""
    os.mkfifo(tmp_path / "line")
    reader = os.open(tmp_path / "line", os.O_RDONLY | os.O_NONBLOCK)

    def last_words() -> bytes:
        os.set_blocking(reader, True)
        with open(reader, "rb") as pipe:
            return pipe.read()

    return last_words


def test_what_a_child_prints_and_its_status_come_back() -> None:
    assert shell("echo out; echo err >&2; exit 3") == ProgramResult(status=3, out=b"out\n", err=b"err\n")
    assert shell("kill -TERM $$").status == -15


def test_a_child_gets_the_environment_it_is_given_no_input_and_no_terminal() -> None:
    outcome = programs.run(["/usr/bin/env"], cwd="/", env={"ONLY": "this"}, limits=ProgramLimits())
    assert outcome.out == b"ONLY=this\n"
    assert shell("cat").out == b""
    assert shell("exec 3<>/dev/tty").status != 0


@pytest.mark.parametrize(
    ("argv", "error"), [(["/no/such/missing"], "missing cannot be started"), (["/bin/sh", "a\0b"], "null byte")]
)
def test_what_cannot_be_started_is_unavailable(argv: list[str], error: str) -> None:
    with pytest.raises(Unavailable, match=error):
        programs.run(argv, cwd="/", env={}, limits=ProgramLimits())


def test_a_child_that_prints_more_than_the_limit_is_stopped() -> None:
    with pytest.raises(Exhausted, match="sh printed more than 1,000 bytes"):
        shell("while :; do echo yes; done", ProgramLimits(max_output=1000))
    assert shell("printf %1000s x", ProgramLimits(max_output=1000)).out == b"x".rjust(1000)


def test_endless_complaints_are_not_kept_and_do_not_outlast_the_time_limit() -> None:
    with pytest.raises(Unavailable, match=r"longer than 0\.3 s"):
        shell("while :; do echo no >&2; done", QUICK)


def test_only_the_first_complaints_are_kept() -> None:
    outcome = shell(f"{sys.executable} -c \"import sys; sys.stderr.write('x' * 9_000_000)\"")
    assert outcome.status == 0
    assert programs.MAX_STDERR <= len(outcome.err) < programs.MAX_STDERR + programs.CHUNK


@pytest.mark.parametrize("script", ["(exec sleep 30 > line) & sleep 30", "exec > line 2>&-; exec sleep 30"])
def test_a_child_that_takes_too_long_is_killed_with_all_its_children(
    tmp_path: Path, lifeline: Callable[[], bytes], script: str
) -> None:
    with pytest.raises(Unavailable, match=r"longer than 0\.3 s"):
        shell(f"cd '{tmp_path}'; {script}", QUICK)
    assert lifeline() == b""


def test_an_interrupt_kills_the_child(tmp_path: Path, lifeline: Callable[[], bytes]) -> None:
    # The child interrupts us only after a while, when we surely wait for it.
    script = f"exec > '{tmp_path}/line'; sleep 0.2; kill -INT {os.getpid()}; exec sleep 30"
    with pytest.raises(KeyboardInterrupt):
        shell(f"({script}) 2>&1", ProgramLimits(timeout=20))
    assert lifeline() == b""


def test_programs_are_looked_for_in_absolute_folders_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert programs.find("tool", {"PATH": ".::bin"}) is None
    assert programs.find("tool", {}) is None
    assert programs.find("tool", {"PATH": f".:{tmp_path}"}) == str(tmp_path / "tool")


@pytest.mark.parametrize("mark", ["", ".git", "pyvenv.cfg"], ids=["root", "checkout", "venv"])
def test_no_program_is_taken_from_where_a_command_in_the_sandbox_can_write(tmp_path: Path, mark: str) -> None:
    project, system = tmp_path / "project", tmp_path / "system"
    for name in ("project/.venv/bin/tool", "system/tool"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "around").symlink_to(project / ".venv")
    (project / "system").symlink_to(system)
    (tmp_path / "links").mkdir()
    (tmp_path / "links/tool").symlink_to(project / ".venv/bin/tool")
    roots = [] if mark else [str(project)]
    if mark:
        (project / mark).touch()
    places = (project / ".venv/bin", tmp_path / "around/bin", tmp_path / "links", project / "system")
    env = {"PATH": ":".join(map(str, places)), "HOME": "/h"}
    assert programs.find("tool", env, roots) == str(system / "tool")
    assert programs.trusted_environment(env, roots) == {"PATH": f"{tmp_path}/links:{system}", "HOME": "/h"}


def test_a_program_is_fed_without_being_listened_to(tmp_path: Path) -> None:
    argv = ["/bin/sh", "-c", f"cat > '{tmp_path}/got'; echo ignored; exit 4"]
    assert programs.feed(argv, b"text", env=ENV, timeout=5) == 4
    assert (tmp_path / "got").read_bytes() == b"text"


def test_a_child_that_is_left_behind_serves_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "question")
    os.mkfifo(tmp_path / "answer")
    served = f"cd '{tmp_path}'; (read word < question; echo $word > answer) & cat > /dev/null"
    assert programs.feed(["/bin/sh", "-c", served], b"x", env=ENV, timeout=5) == 0
    (tmp_path / "question").write_text("served\n")
    assert (tmp_path / "answer").read_bytes() == b"served\n"


def test_a_program_that_does_not_take_its_input_is_killed(tmp_path: Path, lifeline: Callable[[], bytes]) -> None:
    argv = ["/bin/sh", "-c", f"exec sleep 30 > '{tmp_path}/line'"]
    with pytest.raises(Unavailable, match=r"sh took longer than 0\.3 s"):
        programs.feed(argv, b"x" * 1_000_000, env=ENV, timeout=0.3)
    assert lifeline() == b""


@pytest.mark.parametrize(
    ("err", "said"),
    [
        (b"fatal: no way\n", "no way"),
        (b"warning: odd\nhint: try\nssh: refused\r\nfatal: more\n", "ssh: refused"),
        (b"remote: \x1b[31mred\n", "remote: ?[31mred"),
        (b"", "exit status 7"),
    ],
)
def test_a_complaint_is_one_line_fit_for_a_terminal(err: bytes, said: str) -> None:
    assert ProgramResult(status=7, out=b"", err=err).error_line() == said
