import os
import subprocess
from pathlib import Path

from marid.adapters.process import descendants


def started(**environment: str) -> subprocess.Popen[bytes]:
    """A process that has begun, in a session of its own."""
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


def test_a_process_is_told_by_its_mark_wherever_it_went() -> None:
    with started(MARID_RUN_test1="1") as marked, started(OTHER="MARID_RUN_test1=") as other:
        assert list(descendants.find_processes(descendants.has_environment_mark("MARID_RUN_test1"))) == [marked.pid]
        descendants.kill_processes(descendants.has_environment_mark("MARID_RUN_test1"))
        assert marked.wait() == -9
        assert other.poll() is None
        other.kill()


def test_a_process_is_told_by_its_namespace() -> None:
    number = os.stat("/proc/self/ns/pid").st_ino
    assert os.getpid() in descendants.find_processes(descendants.in_namespace(number))
    assert list(descendants.find_processes(descendants.in_namespace(0))) == []


def test_we_never_kill_ourselves() -> None:
    own = os.getpid()
    descendants.kill_processes(lambda pid: int(pid) == own, rounds=1)


def test_killing_stops_after_some_rounds_when_there_is_always_another() -> None:
    looked: list[str] = []

    def never_ending(pid: str) -> bool:
        if int(pid) != os.getpid():
            return False
        looked.append(pid)
        return True

    descendants.kill_processes(never_ending, rounds=3)
    assert len(looked) == 1  # ourselves do not count, so there was nothing to kill


def test_the_threads_of_a_process_and_of_the_machine_are_counted() -> None:
    assert descendants.thread_count(os.getpid()) == len(os.listdir("/proc/self/task"))
    assert descendants.thread_count(0) == 0
    assert descendants.machine_thread_count() > descendants.thread_count(os.getpid())


def test_where_there_is_no_proc_nothing_is_known(tmp_path: Path) -> None:
    assert list(descendants.find_processes(lambda pid: True, str(tmp_path / "gone"))) == []
    assert descendants.machine_thread_count(str(tmp_path / "gone")) == 0
