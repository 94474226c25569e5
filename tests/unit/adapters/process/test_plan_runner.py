import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from fakes.ports import FakeProcesses
from marid.adapters.process.plan_runner import PlanRunner
from marid.core.caller import Caller
from marid.core.errors import Refused
from marid.core.policy.policy import Policy
from marid.ports.processes import OnOutput, ProcessCommand, ProcessResult, SandboxState
from marid.toolkit.call_scope import CallScope
from marid.toolkit.outcome import CommandPlan
from marid.toolkit.thread_pool import DaemonThreadPool
from marid.workspace.guard.api import PathScope


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


def test_a_command_that_waits_for_its_turn_is_never_begun_once_cancelled(scope: CallScope) -> None:
    slow = Slow()
    threads = DaemonThreadPool(1)
    busy, free = threading.Event(), threading.Event()

    async def story() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: threads.run(lambda: (busy.set(), free.wait(10))))
            await anyio.to_thread.run_sync(busy.wait)
            threading.Timer(0.05, free.set).start()
            await cancel(PlanRunner(processes=lambda: slow, threads=threads), scope, lambda: True)

    anyio.run(story)
    assert not slow.begun.is_set()
