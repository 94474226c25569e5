import os
import subprocess
from pathlib import Path

import pytest

from fakes.files import as_nobody
from fakes.trees import scratch
from marid.adapters.process.process_tree import kill_processes
from marid.adapters.process.shell_runner import control_group, in_control_group, remove_stale_groups, with_process_limit

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
