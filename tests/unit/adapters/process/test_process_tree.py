import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from marid.adapters.process.process_tree import (
    ProcessTree,
    find_processes,
    has_environment_mark,
    in_namespace,
    kill_processes,
    machine_thread_count,
    start_process_tree,
    thread_count,
)
from marid.adapters.sandbox.bubblewrap import LaunchSpec
from marid.core.errors import Unavailable

ENV = {"PATH": os.defpath}


def shell(script: str) -> LaunchSpec:
    return LaunchSpec(argv=("/bin/sh", "-c", script))


def test_a_child_is_ended_when_we_leave() -> None:
    with start_process_tree(shell("sleep 100"), cwd="/", env=ENV) as tree:
        assert not tree.has_ended()
    assert tree.child.returncode == -9


def test_a_child_is_ended_when_we_fail() -> None:
    with pytest.raises(KeyError), start_process_tree(shell("sleep 100"), cwd="/", env=ENV) as tree:
        raise KeyError
    assert tree.child.returncode == -9


def test_the_status_of_a_child_that_ended_by_itself_is_its_own() -> None:
    with start_process_tree(shell("exit 5"), cwd="/", env=ENV) as tree:
        os.waitid(os.P_PID, tree.child.pid, os.WEXITED | os.WNOWAIT)
        assert tree.has_ended()
        assert tree.has_reached_command()
        assert tree.kill() == 5


def test_what_cannot_be_started_is_unavailable() -> None:
    with (
        pytest.raises(Unavailable, match="cannot be started"),
        start_process_tree(LaunchSpec(argv=("/no/x",)), cwd="/", env=ENV),
    ):
        pass


def test_processes_are_counted_only_once_the_machine_has_that_many() -> None:
    crowd = shell("for i in 1 2 3 4 5 6; do sleep 100 & done; echo begun; wait")
    with start_process_tree(crowd, cwd="/", env=ENV, machine_threads=lambda: 500) as tree:
        assert tree.child.stdout is not None
        tree.child.stdout.readline()
        assert not tree.has_more_than(100_000)
        assert tree.has_more_than(0)
        assert not tree.has_more_than(0)  # counted again only when there are many more


def test_the_report_of_the_sandbox_names_its_processes_and_says_whether_it_was_set_up() -> None:
    status, report = os.pipe()
    os.set_blocking(status, False)
    with subprocess.Popen(["/bin/sleep", "100"], start_new_session=True) as child:
        tree = ProcessTree(child, status, "", lambda: 500)
        assert not tree.has_reached_command()
        number = os.stat(f"/proc/{child.pid}/ns/pid").st_ino
        os.write(report, b'{"child-pid": %d, "pid-namespace": %d}\n' % (child.pid, number))
        assert not tree.has_ended()
        assert tree.has_more_than(0)
        os.write(report, b'{"exit-code": 3}\n')
        assert tree.has_reached_command()
        assert tree.kill() == -9
    os.close(status)
    os.close(report)


def test_a_report_of_a_process_that_has_gone_is_no_trouble() -> None:
    status, report = os.pipe()
    os.set_blocking(status, False)
    with subprocess.Popen(["/bin/true"], start_new_session=True) as child:
        os.write(report, b'{"child-pid": 4194304}\n')
        assert ProcessTree(child, status, "", lambda: 0).kill() in (0, -9)
    os.close(status)
    os.close(report)


def start_marked(**environment: str) -> subprocess.Popen[bytes]:
    """A running process in a new session."""
    child = subprocess.Popen(
        ["/bin/sh", "-c", "echo begun; exec sleep 100"],
        env={"PATH": os.defpath, **environment},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdout is not None
    with child.stdout as out:
        out.readline()
    return child


def test_a_process_is_found_and_killed_by_its_mark_in_any_session() -> None:
    is_marked = partial(has_environment_mark, "MARID_RUN_test1")
    with start_marked(MARID_RUN_test1="1") as marked, start_marked(OTHER="MARID_RUN_test1=") as other:
        assert list(find_processes(is_marked)) == [marked.pid]
        kill_processes(is_marked)
        assert marked.wait() == -9
        assert other.poll() is None
        other.kill()


def test_a_process_is_found_by_its_namespace() -> None:
    assert os.getpid() in find_processes(partial(in_namespace, os.stat("/proc/self/ns/pid").st_ino))
    assert list(find_processes(partial(in_namespace, 0))) == []


def test_this_process_is_never_killed() -> None:
    kill_processes(lambda pid: int(pid) == os.getpid())


def test_the_threads_of_a_process_and_of_the_machine_are_counted() -> None:
    assert thread_count(os.getpid()) == len(os.listdir("/proc/self/task"))
    assert thread_count(0) == 0
    assert machine_thread_count() > thread_count(os.getpid())


def test_without_proc_nothing_is_found(tmp_path: Path) -> None:
    assert list(find_processes(lambda pid: True, str(tmp_path / "gone"))) == []
    assert machine_thread_count(str(tmp_path / "gone")) == 0
