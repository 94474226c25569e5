import os
import subprocess

import pytest

from marid.adapters.process.process_tree import ProcessTree, start_process_tree
from marid.adapters.sandbox.bubblewrap import LaunchSpec
from marid.core.errors import Unavailable

ENV = {"PATH": os.defpath}


def shell(script: str) -> LaunchSpec:
    return LaunchSpec(argv=("/bin/sh", "-c", script))


def test_a_child_is_ended_when_we_leave() -> None:
    with start_process_tree(shell("sleep 100"), cwd="/", env=ENV) as family:
        assert not family.has_ended()
    assert family.child.returncode == -9


def test_a_child_is_ended_when_we_fail() -> None:
    with pytest.raises(KeyError), start_process_tree(shell("sleep 100"), cwd="/", env=ENV) as family:
        raise KeyError
    assert family.child.returncode == -9


def test_the_status_of_a_child_that_ended_by_itself_is_its_own() -> None:
    with start_process_tree(shell("exit 5"), cwd="/", env=ENV) as family:
        os.waitid(os.P_PID, family.child.pid, os.WEXITED | os.WNOWAIT)
        assert family.has_ended()
        assert family.has_reached_command()
        assert family.kill() == 5


def test_what_cannot_be_started_is_unavailable() -> None:
    with (
        pytest.raises(Unavailable, match="cannot be started"),
        start_process_tree(LaunchSpec(argv=("/no/x",)), cwd="/", env=ENV),
    ):
        pass


def test_a_crowd_is_told_by_counting_once_the_machine_has_that_many() -> None:
    crowd = shell("for i in 1 2 3 4 5 6; do sleep 100 & done; echo begun; wait")
    with start_process_tree(crowd, cwd="/", env=ENV, threads=lambda: 500) as family:
        assert family.child.stdout is not None
        family.child.stdout.readline()
        assert not family.has_more_than(100_000)
        assert family.has_more_than(0)
        assert not family.has_more_than(0)  # looked at again only when there are many more


def test_the_report_of_the_sandbox_tells_its_processes_and_whether_it_was_set_up() -> None:
    status, report = os.pipe()
    os.set_blocking(status, False)
    with subprocess.Popen(["/bin/sleep", "100"], start_new_session=True) as child:
        family = ProcessTree(child, status, "", lambda: 500)
        assert not family.has_reached_command()
        number = os.stat(f"/proc/{child.pid}/ns/pid").st_ino
        os.write(report, b'{"child-pid": %d, "pid-namespace": %d}\n' % (child.pid, number))
        assert not family.has_ended()
        assert family.has_more_than(0)
        os.write(report, b'{"exit-code": 3}\n')
        assert family.has_reached_command()
        assert family.kill() == -9
    os.close(status)
    os.close(report)


def test_a_report_of_a_process_that_has_gone_is_no_trouble() -> None:
    status, report = os.pipe()
    os.set_blocking(status, False)
    with subprocess.Popen(["/bin/true"], start_new_session=True) as child:
        os.write(report, b'{"child-pid": 4194304}\n')
        assert ProcessTree(child, status, "").kill() in (0, -9)
    os.close(status)
    os.close(report)
