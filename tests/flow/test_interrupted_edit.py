"""An edit that is killed leaves every file whole, and after the next start all of its files or none are changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes import killed_commit
from fakes.files import file_contents
from marid.workspace.write.commit_journal import recover_commits


def run(*args: str) -> None:
    path = os.pathsep.join([str(Path(killed_commit.__file__).parents[1]), *sys.path])
    env = {**os.environ, "PYTHONPATH": path}
    subprocess.run([sys.executable, killed_commit.__file__, *args], env=env, check=True, timeout=300)


def version_of(data: bytes) -> int:
    """Which version a file is; fails when it is no whole one."""
    version = int(data.partition(b"\n")[0])
    assert data == killed_commit.text(version)
    return version


def check(top: Path) -> int:
    """Look before and after recovery; the version that all files have in the end."""
    for name, data in file_contents(top / "r").items():
        if not name.endswith((".tmp", "/")):
            version_of(data)
    recover_commits(str(top / "home"))
    after = file_contents(top / "r")
    assert not [name for name in after if ".marid-" in name]
    version = version_of(after["a"])
    assert version_of(after["d/b"]) == version
    made = {f"new{number}/c" for number in range(1, version + 1)}
    assert {name for name in after if not name.endswith("/")} == {"a", "d/b", *made}
    assert file_contents(top / "home") in ({"edits/": b""}, {})
    assert recover_commits(str(top / "home")) == 0
    return version


def test_a_kill_at_any_step_leaves_all_or_nothing(tmp_path: Path) -> None:
    run("steps", str(tmp_path))
    versions = [check(tmp_path / str(end)) for end in range(1, 1 + len(os.listdir(tmp_path)))]
    # Old until the commit is ready, new from then on; the last one was not killed.
    assert versions == sorted(versions)
    assert set(versions) == {0, 1}
    assert len(versions) >= 12


def test_a_kill_at_any_moment_leaves_all_or_nothing(tmp_path: Path) -> None:
    run("moments", str(tmp_path), "25", "1")
    for number in range(25):
        check(tmp_path / str(number))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_many_kills_at_any_moment_leave_all_or_nothing(tmp_path: Path, seed: int) -> None:
    run("moments", str(tmp_path), "500", str(seed))
    for number in range(500):
        check(tmp_path / str(number))
