"""What happens to a real folder while it is watched."""

import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from marid.adapters.file_watch import FileWatch
from marid.core.errors import Unavailable

INTERRUPTED = """
import sys
from marid.adapters.file_watch import FileWatch
try:
    for changed in FileWatch().changes(sys.argv[1:], lambda: False):
        print("standing", flush=True)
except KeyboardInterrupt:
    print("interrupted")
"""
REFUSED = """
import resource, sys, watchfiles
from marid.adapters.file_watch import FileWatch
from marid.core.errors import Unavailable
before = resource.getrlimit(resource.RLIMIT_NOFILE)
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    next(FileWatch().changes(sys.argv[1:], lambda: False))
except Unavailable as error:
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    print(error)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """A folder of a user who is not root; the test runs as that user."""
    importlib.import_module("watchfiles")  # before the switch: the user may not be allowed to read our libraries
    privileged = os.geteuid() == 0
    if privileged:
        os.seteuid(65534)
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    finally:
        if privileged:
            os.seteuid(0)


def watched(*folders: Path) -> Iterator[frozenset[str]]:
    """The changes from now on, for at most 30 seconds."""
    end = time.monotonic() + 30
    sets = FileWatch().changes([str(folder) for folder in folders], lambda: time.monotonic() > end)
    assert next(sets) == frozenset()
    return sets


def reports(sets: Iterator[frozenset[str]], path: Path) -> bool:
    return any(str(path) in changed for changed in sets)


def reports_new(sets: Iterator[frozenset[str]], path: Path) -> bool:
    path.write_text("1")
    return reports(sets, path)


def test_a_file_made_and_deleted_in_a_new_folder_is_reported(root: Path) -> None:
    sets = watched(root)
    (root / "new").mkdir()
    assert reports(sets, root / "new")
    assert reports_new(sets, root / "new" / "file")
    (root / "new" / "file").unlink()
    assert reports(sets, root / "new" / "file")


@pytest.mark.parametrize("name", ["node_modules", ".git", "__pycache__"])
def test_no_folder_is_left_out(root: Path, name: str) -> None:
    (root / name).mkdir()
    sets = watched(root)
    assert reports_new(sets, root / name / "file.pyc")


def test_a_folder_that_vanishes_and_returns_is_watched_again(root: Path) -> None:
    (root / "old").write_text("1")
    sets = watched(root)
    shutil.rmtree(root)
    assert reports(sets, root)
    root.mkdir()
    assert reports(sets, root)
    assert reports_new(sets, root / "new")


def test_files_below_a_link_are_named_by_the_link(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    sets = watched(link)
    (root / "file").write_text("1")
    assert next(sets) == {str(link / "file")}
    shutil.rmtree(root)
    assert reports(sets, link)


def test_a_folder_swapped_for_another_is_watched_again(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    sets = watched(root)
    root.rename(tmp_path / "away")
    (tmp_path / "other").rename(root)
    assert reports(sets, root)
    assert reports_new(sets, root / "new")


def test_a_folder_that_vanishes_does_not_end_the_watch_of_another(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    sets = watched(root, tmp_path / "other")
    root.rmdir()
    assert reports(sets, root)
    assert reports_new(sets, tmp_path / "other" / "file")


def test_a_name_that_is_not_utf8_makes_the_whole_folder_suspect(root: Path) -> None:
    sets = watched(root)
    Path(os.fsdecode(os.fsencode(root) + b"/bad\xff")).write_text("1")
    assert reports(sets, root)
    assert reports_new(sets, root / "good")


def test_a_folder_whose_name_is_not_utf8_cannot_be_watched(tmp_path: Path) -> None:
    bad = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff")
    os.mkdir(bad)
    with pytest.raises(Unavailable, match="not UTF-8"):
        FileWatch().changes([bad], lambda: False)


@pytest.mark.parametrize("mode", [0o000, 0o600, 0o300])
def test_a_folder_that_may_not_be_read_hides_no_other(ordinary_user: Path, mode: int) -> None:
    names = "abcde"
    for name in names:
        (ordinary_user / name / "deep").mkdir(parents=True)
    (ordinary_user / "c").chmod(mode)
    try:
        sets = watched(ordinary_user)
        for name in names.replace("c", ""):
            assert reports_new(sets, ordinary_user / name / "deep" / "file")
        (ordinary_user / "new").mkdir()
        assert reports(sets, ordinary_user / "new")
        assert reports_new(sets, ordinary_user / "new" / "file")
    finally:
        (ordinary_user / "c").chmod(0o700)


def test_a_system_that_allows_no_watch_is_reported(root: Path) -> None:
    argv = [sys.executable, "-c", REFUSED, str(root)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert f'cannot watch "{root}": ' in done.stdout


def test_ctrl_c_ends_the_wait(root: Path) -> None:
    argv = [sys.executable, "-c", INTERRUPTED, str(root)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "standing\n"
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=60) == ("interrupted\n", "")
