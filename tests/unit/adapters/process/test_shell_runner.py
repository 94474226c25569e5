import os
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from fakes.files import as_nobody
from fakes.ports import FakeProcesses
from fakes.sandbox import SandboxedProject
from fakes.trees import scratch
from marid.adapters.process.plan_runner import PlanRunner
from marid.adapters.process.process_tree import kill_processes
from marid.adapters.process.shell_runner import (
    ShellRunner,
    control_group,
    in_control_group,
    remove_stale_groups,
    with_process_limit,
)
from marid.adapters.sandbox.bubblewrap import Sandbox
from marid.core.caller import Caller
from marid.core.errors import Refused, Unavailable
from marid.core.policy.policy import Policy
from marid.ports.processes import OnOutput, ProcessCommand, ProcessResult, SandboxState
from marid.toolkit.call_scope import CallScope
from marid.toolkit.outcome import CommandPlan
from marid.toolkit.thread_pool import DaemonThreadPool
from marid.workspace.guard.api import PathScope

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


@pytest.fixture(params=["confined", "unconfined"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., ProcessResult]:
    """Runs a script in `tmp_path`/project, with and without a sandbox."""
    if request.param == "confined":
        made = SandboxedProject(tmp_path)
        runner = ShellRunner(env=made.env, sandbox=made.sandbox, output=10_000, max_processes=64)
    else:
        (tmp_path / "project").mkdir()
        runner = ShellRunner(env=ENV, sandbox=None, output=10_000, max_processes=64)
    root = str(tmp_path / "project")

    def script(text: str, seconds: float = 20.0, stopped: Callable[[], bool] | None = None) -> ProcessResult:
        command = ProcessCommand(
            argv=("/bin/sh", "-c", text), cwd=root, roots=(root,), seconds=seconds, unconfined=True
        )
        return runner.run(command, stopped=stopped)

    return script


@pytest.fixture
def lifeline(tmp_path: Path) -> Callable[[], None]:
    """A pipe in the project that a command holds open; calling this returns when all who hold it are dead."""
    (tmp_path / "project").mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "project" / "line")
    reader = os.open(tmp_path / "project" / "line", os.O_RDONLY | os.O_NONBLOCK)

    def wait() -> None:
        os.set_blocking(reader, True)
        with open(reader, "rb") as pipe:
            assert pipe.read() == b"begun\n"

    return wait


HOLD = "exec 9> line; echo begun >&9; "


@pytest.mark.parametrize(
    "script",
    [
        HOLD + "sleep 100",
        HOLD + "sleep 100 & sleep 100",
        HOLD + "setsid sleep 100 & sleep 100",
        HOLD + "(setsid sh -c 'sleep 100 & sleep 100' &) ; sleep 100",
        HOLD + "trap '' TERM HUP INT; sleep 100 | cat",
    ],
)
def test_a_time_out_ends_the_whole_tree(
    run: Callable[..., ProcessResult], lifeline: Callable[[], None], script: str
) -> None:
    assert run(script, seconds=0.3).timed_out
    lifeline()


@pytest.mark.parametrize("script", [HOLD + "setsid sleep 100 > /dev/null 2>&1 &", HOLD + "sleep 100 & exit 0"])
def test_nothing_outlives_a_command_that_ended_by_itself(
    run: Callable[..., ProcessResult], lifeline: Callable[[], None], script: str
) -> None:
    assert run(script).status == 0
    lifeline()


def test_stopping_ends_the_whole_tree(
    run: Callable[..., ProcessResult], lifeline: Callable[[], None], tmp_path: Path
) -> None:
    begun = tmp_path / "project" / "begun"
    begin = time.monotonic()
    ran = run(HOLD + "touch begun; setsid sleep 100 & sleep 100", stopped=begun.exists)
    assert not ran.timed_out
    assert time.monotonic() - begin < 10
    lifeline()


def test_long_output_keeps_its_beginning_and_its_end(run: Callable[..., ProcessResult]) -> None:
    ran = run("echo first; head -c 50000 /dev/zero | tr '\\0' x; echo; echo last")
    assert ran.out.startswith("first\n")
    assert ran.out.endswith("last\n")
    assert len(ran.out) < 10_100
    assert ran.omitted_bytes == len("first\n\nlast\n") + 50_000 - 10_000


def test_a_command_may_close_its_output_and_go_on(run: Callable[..., ProcessResult]) -> None:
    assert run("echo x; exec >&- 2>&-; sleep 0.1; exit 4").status == 4


def test_a_crowd_is_stopped(run: Callable[..., ProcessResult]) -> None:
    ran = run("i=0; while [ $i -lt 100 ]; do sleep 5 & i=$((i+1)); done; wait", seconds=4.0)
    assert "fork" in ran.err or "64 processes" in ran.err


def test_it_starts_quickly_and_does_not_wait_for_the_next_tick(run: Callable[..., ProcessResult]) -> None:
    run("true")
    assert min(run("true").seconds for _ in range(5)) < 0.5


def test_several_run_at_once(run: Callable[..., ProcessResult]) -> None:
    with ThreadPoolExecutor(6) as threads:
        results = threads.map(run, [f"echo {number}" for number in range(6)])
    assert [result.out for result in results] == [f"{number}\n" for number in range(6)]


def test_what_cannot_be_started_is_unavailable(tmp_path: Path) -> None:
    runner = ShellRunner(env=ENV, sandbox=None)
    command = ProcessCommand(argv=("/bin/echo", "x" * 200_000), cwd=str(tmp_path), roots=(), unconfined=True)
    with pytest.raises(Unavailable, match="cannot be started"):
        runner.run(command)


def test_a_sandbox_that_cannot_be_set_up_is_unavailable(tmp_path: Path) -> None:
    made = SandboxedProject(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(Unavailable, match="the sandbox cannot be set up: bwrap: "):
        made("true", cwd=str(tmp_path / "elsewhere"))


def test_e12_without_bubblewrap_the_state_says_so_and_nothing_runs_by_itself(tmp_path: Path) -> None:
    runner = ShellRunner(env=ENV, sandbox=None)
    assert runner.state().reason == "bubblewrap, which would confine it, is not installed"
    with pytest.raises(Refused, match="bubblewrap"):
        runner.run(ProcessCommand(argv=("/bin/true",), cwd=str(tmp_path), roots=(str(tmp_path),)))


@pytest.mark.parametrize("script", ["echo bwrap: no namespaces >&2; exit 1", "exit 0"])
def test_e12_a_bubblewrap_that_does_not_work_is_noticed(tmp_path: Path, script: str) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    sandbox = Sandbox(str(program), env=ENV, state=str(tmp_path / "state"))
    runner = ShellRunner(env=ENV, sandbox=sandbox)
    assert not runner.state().confined
    assert runner.state().reason.startswith("the sandbox does")


def test_e12_a_bubblewrap_that_confines_too_little_is_noticed(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text(
        '#!/bin/sh\nwhile [ "$1" != --json-status-fd ]; do shift; done\n'
        "echo 'has a network'; echo tried; echo '{\"exit-code\": 0}' > /dev/fd/$2\n"
    )
    program.chmod(0o755)
    sandbox = Sandbox(str(program), env=ENV, state=str(tmp_path / "state"))
    assert ShellRunner(env=ENV, sandbox=sandbox).state().reason.endswith("a command inside has a network")


NEW, OLD = "6.1.0-13-amd64", "5.10.0"


def test_a_confined_command_is_counted_apart_from_all_others() -> None:
    assert with_process_limit(["x"], 100, release=NEW, confined=True)[4] == "100"


@pytest.mark.parametrize(("release", "confined"), [(OLD, True), (NEW, False), ("strange", True)])
def test_where_all_of_a_user_are_counted_the_limit_is_on_top_of_them(release: str, *, confined: bool) -> None:
    assert int(with_process_limit(["x"], 100, release=release, confined=confined)[4]) > 100


def test_the_shell_that_sets_the_limits_becomes_the_command() -> None:
    argv = with_process_limit(
        ["/bin/sh", "-c", "ulimit -c; echo $0 $1", "a", "b c"], 10_000, release=NEW, confined=True
    )
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"0\na b c\n"


def test_a_command_joins_its_group_and_then_becomes_itself(tmp_path: Path) -> None:
    argv = in_control_group(["/bin/sh", "-c", "echo $$"], str(tmp_path))
    done = subprocess.run(argv, capture_output=True, check=True)
    assert (tmp_path / "cgroup.procs").read_bytes() == done.stdout


def test_a_group_that_has_gone_does_not_stop_the_command(tmp_path: Path) -> None:
    done = subprocess.run(in_control_group(["/bin/echo", "x"], str(tmp_path / "gone")), capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"x\n", b"")


def test_there_is_no_group_where_there_are_none_or_they_do_not_count_processes(tmp_path: Path) -> None:
    with control_group(10, [str(tmp_path), str(tmp_path / "gone")]) as group:
        assert group is None
    (tmp_path / "cgroup.procs").touch()
    with control_group(10, [str(tmp_path)]) as group:
        assert group is None
    assert [path.name for path in tmp_path.iterdir()] == ["cgroup.procs"]


def test_there_is_no_group_where_it_may_not_be_created() -> None:
    with scratch() as folder:
        Path(folder, "cgroup.procs").touch()
        os.chmod(folder, 0o555)
        with as_nobody(), control_group(10, [folder]) as group:
            assert group is None


@pytest.mark.skipif(not os.access("/sys/fs/cgroup/pids", os.W_OK), reason="no control groups that we may change")
def test_a_group_holds_as_many_as_it_says_and_is_gone_afterwards() -> None:
    with control_group(5) as group:
        assert group is not None
        script = "i=0; while [ $i -lt 20 ]; do sleep 1 & i=$((i+1)); done"
        done = subprocess.run(in_control_group(["/bin/sh", "-c", script], group), capture_output=True, check=False)
        assert b"ork" in done.stderr
        kill_processes(lambda pid: os.path.basename(group) in Path(f"/proc/{pid}/cgroup").read_text())
    assert not os.path.exists(group)


@pytest.mark.skipif(not os.access("/sys/fs/cgroup/pids", os.W_OK), reason="no control groups that we may change")
def test_a_group_that_is_in_use_for_a_moment_longer_is_waited_for() -> None:
    with control_group(5) as group:
        child = subprocess.Popen(in_control_group(["/bin/sh", "-c", "echo; sleep 0.05"], group), stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
    with child:
        assert group is not None
        assert not os.path.exists(group)


def test_groups_of_programs_that_are_gone_are_removed(tmp_path: Path) -> None:
    for name in ("marid-0-dead", f"marid-{os.getpid()}-alive", "other"):
        (tmp_path / name).mkdir()
    remove_stale_groups([str(tmp_path), str(tmp_path / "gone")])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"marid-{os.getpid()}-alive", "other"]


@pytest.fixture
def scope(tmp_path: Path) -> CallScope:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    path_scope = PathScope([str(tmp_path / "root")], [str(tmp_path / "notes")])
    return CallScope(caller=Caller(face="test"), policy=Policy(), path_scope=path_scope)


def plan(scope: CallScope, script: str = "x") -> CommandPlan:
    return CommandPlan(
        argv=("/bin/sh", "-c", script), display=script, cwd=scope.path_scope.resolve("sub"), timeout=7, network=True
    )


def test_a_plan_becomes_a_command_that_may_write_in_the_roots(scope: CallScope, tmp_path: Path) -> None:
    processes = FakeProcesses(
        {"x": ProcessResult(status=1, out="o", err="e", seconds=2.0, timed_out=True, omitted_bytes=5)}
    )
    runner = PlanRunner(processes=lambda: processes, threads=DaemonThreadPool())
    ran = anyio.run(lambda: runner(plan(scope), scope, unconfined=True))
    assert (ran.status, ran.out, ran.err, ran.seconds, ran.timed_out) == (1, "o", "e", 2.0, True)
    (command,) = processes.commands
    root = str(tmp_path / "root")
    assert command == ProcessCommand(
        argv=("/bin/sh", "-c", "x"),
        cwd=f"{root}/sub",
        roots=(root, str(tmp_path / "notes")),
        seconds=7,
        network=True,
        unconfined=True,
    )


def test_what_the_runner_raises_is_raised(scope: CallScope) -> None:
    runner = PlanRunner(processes=lambda: FakeProcesses(reason="none"), threads=DaemonThreadPool())
    with pytest.raises(Refused, match="none"):
        anyio.run(lambda: runner(plan(scope), scope, unconfined=False))


class Slow:
    """A command that runs until it is stopped, and then needs a moment."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = False

    def state(self) -> SandboxState:
        return SandboxState(confined=True)

    def find(self, *names: str) -> str | None:
        del names

    def run(
        self, command: ProcessCommand, on_output: OnOutput | None = None, stopped: Callable[[], bool] | None = None
    ) -> ProcessResult:
        self.begun.set()
        tick = threading.Event()
        while stopped is not None and not stopped():
            tick.wait(0.005)
        tick.wait(0.05)
        self.ended = True
        return ProcessResult(status=-9, out="", err="", seconds=0.0)


async def cancel(runner: PlanRunner, scope: CallScope, begun: Callable[[], object]) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: runner(plan(scope), scope, unconfined=False))
        await anyio.to_thread.run_sync(begun)
        group.cancel_scope.cancel()


def test_cancelling_returns_when_the_command_has_ended(scope: CallScope) -> None:
    slow = Slow()
    runner = PlanRunner(processes=lambda: slow, threads=DaemonThreadPool())
    anyio.run(lambda: cancel(runner, scope, slow.begun.wait))
    assert slow.ended


def test_cancelling_ends_a_command_also_when_too_many_other_calls_hang(scope: CallScope) -> None:
    slow = Slow()
    threads, hanging = DaemonThreadPool(8, max_abandoned=1), threading.Event()
    runner = PlanRunner(processes=lambda: slow, threads=threads)

    async def story() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: runner(plan(scope), scope, unconfined=False))
            await anyio.to_thread.run_sync(slow.begun.wait)
            with pytest.raises(TimeoutError):
                await threads.run(hanging.wait, 0.01)
            with pytest.raises(Unavailable):
                await threads.run(hanging.is_set)
            group.cancel_scope.cancel()

    anyio.run(story)
    hanging.set()
    assert slow.ended


def test_a_command_that_waits_for_its_turn_is_never_begun_once_cancelled(scope: CallScope) -> None:
    slow = Slow()
    threads = DaemonThreadPool(1)
    go, busy, free = threading.Event(), threading.Event(), threading.Event()

    def processes() -> Slow:
        go.wait(10)
        return slow

    async def story() -> None:
        runner = PlanRunner(processes=processes, threads=threads)
        async with anyio.create_task_group() as group, anyio.create_task_group() as commands:
            commands.start_soon(lambda: runner(plan(scope), scope, unconfined=False))
            group.start_soon(lambda: threads.run(lambda: (busy.set(), free.wait(10))))
            await anyio.wait_all_tasks_blocked()
            go.set()  # the only thread goes to the other task, which is in front of the command
            await anyio.to_thread.run_sync(busy.wait)
            await anyio.wait_all_tasks_blocked()
            commands.cancel_scope.cancel()
            threading.Timer(0.05, free.set).start()

    anyio.run(story)
    assert not slow.begun.is_set()
