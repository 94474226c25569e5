"""What happens to a real folder while it is watched."""

import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
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
def too_late() -> Callable[[], bool]:
    end = time.monotonic() + 30
    return lambda: time.monotonic() > end


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """A folder of somebody whom permissions bind, and we are that somebody."""
    importlib.import_module("watchfiles")  # now, since somebody may not be allowed to read our libraries
    privileged = os.geteuid() == 0
    if privileged:
        os.seteuid(65534)
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    finally:
        if privileged:
            os.seteuid(0)


def until(sets: Iterator[frozenset[str]], path: Path) -> bool:
    return any(str(path) in changed for changed in sets)


def test_a_file_in_a_new_folder_is_told(root: Path, too_late: Callable[[], bool]) -> None:
    sets = FileWatch().changes([str(root)], too_late)
    next(sets)
    (root / "new").mkdir()
    assert until(sets, root / "new")
    (root / "new" / "file").write_text("1")
    assert until(sets, root / "new" / "file")


def test_a_deleted_file_is_told(root: Path, too_late: Callable[[], bool]) -> None:
    (root / "file").write_text("1")
    sets = FileWatch().changes([str(root)], too_late)
    next(sets)
    (root / "file").unlink()
    assert until(sets, root / "file")


@pytest.mark.parametrize("name", ["node_modules", ".git", "__pycache__"])
def test_no_folder_is_left_out(root: Path, too_late: Callable[[], bool], name: str) -> None:
    (root / name).mkdir()
    sets = FileWatch().changes([str(root)], too_late)
    next(sets)
    (root / name / "file.pyc").write_text("1")
    assert until(sets, root / name / "file.pyc")


def test_a_folder_that_vanishes_and_returns_is_watched_again(root: Path, too_late: Callable[[], bool]) -> None:
    (root / "old").write_text("1")
    sets = FileWatch().changes([str(root)], too_late)
    next(sets)
    shutil.rmtree(root)
    assert until(sets, root)
    root.mkdir()
    assert until(sets, root)
    (root / "new").write_text("1")
    assert until(sets, root / "new")


def test_files_below_a_link_are_named_by_the_link(root: Path, tmp_path: Path, too_late: Callable[[], bool]) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    sets = FileWatch().changes([str(link)], too_late)
    next(sets)
    (root / "file").write_text("1")
    assert next(sets) == {str(link / "file")}
    shutil.rmtree(root)
    assert until(sets, link)


def test_a_folder_swapped_for_another_is_watched_again(
    root: Path, tmp_path: Path, too_late: Callable[[], bool]
) -> None:
    (tmp_path / "other").mkdir()
    sets = FileWatch().changes([str(root)], too_late)
    next(sets)
    root.rename(tmp_path / "away")
    (tmp_path / "other").rename(root)
    assert until(sets, root)
    (root / "new").write_text("1")
    assert until(sets, root / "new")


def test_a_folder_that_vanishes_does_not_end_the_watch_of_another(
    root: Path, tmp_path: Path, too_late: Callable[[], bool]
) -> None:
    (tmp_path / "other").mkdir()
    sets = FileWatch().changes([str(root), str(tmp_path / "other")], too_late)
    next(sets)
    root.rmdir()
    assert until(sets, root)
    (tmp_path / "other" / "file").write_text("1")
    assert until(sets, tmp_path / "other" / "file")


def test_a_name_that_is_not_utf8_makes_the_whole_folder_suspect(root: Path, too_late: Callable[[], bool]) -> None:
    sets = FileWatch().changes([str(root)], too_late)
    next(sets)
    Path(os.fsdecode(os.fsencode(root) + b"/bad\xff")).write_text("1")
    assert until(sets, root)
    (root / "good").write_text("1")
    assert until(sets, root / "good")


def test_a_folder_whose_name_is_not_utf8_cannot_be_watched(tmp_path: Path) -> None:
    bad = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff")
    os.mkdir(bad)
    with pytest.raises(Unavailable, match="not UTF-8"):
        FileWatch().changes([bad], lambda: False)


@pytest.mark.parametrize("mode", [0o000, 0o600, 0o300])
def test_a_folder_that_may_not_be_read_hides_no_other(
    ordinary_user: Path, too_late: Callable[[], bool], mode: int
) -> None:
    names = "abcde"
    for name in names:
        (ordinary_user / name / "deep").mkdir(parents=True)
    (ordinary_user / "c").chmod(mode)
    try:
        sets = FileWatch().changes([str(ordinary_user)], too_late)
        assert next(sets) == frozenset()
        for name in names.replace("c", ""):
            (ordinary_user / name / "deep" / "file").write_text("1")
            assert until(sets, ordinary_user / name / "deep" / "file")
        (ordinary_user / "new").mkdir()
        assert until(sets, ordinary_user / "new")
        (ordinary_user / "new" / "file").write_text("1")
        assert until(sets, ordinary_user / "new" / "file")
    finally:
        (ordinary_user / "c").chmod(0o700)


def test_a_system_that_allows_no_watch_is_reported(root: Path) -> None:
    argv = [sys.executable, "-c", REFUSED, str(root)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert f'cannot watch "{root}": ' in done.stdout


def test_ctrl_c_reaches_whoever_waits(root: Path) -> None:
    argv = [sys.executable, "-c", INTERRUPTED, str(root)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "standing\n"
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=60) == ("interrupted\n", "")
