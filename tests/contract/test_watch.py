"""Every watch keeps the promises of `ports.watch`."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakes.ports import FakeWatch
from marid.adapters.file_watch import FileWatch
from marid.core.errors import NotFound
from marid.ports.watch import FileWatcher

Write = Callable[[Path], object]


@pytest.fixture(params=["system", "fake"])
def watch_and_write(request: pytest.FixtureRequest) -> tuple[FileWatcher, Write]:
    """A watch, and how to change a file that it sees."""
    if request.param == "system":
        return FileWatch(), lambda path: path.write_text("changed")
    fake = FakeWatch()
    return fake, lambda path: fake.tell(str(path))


@pytest.fixture
def too_late() -> Callable[[], bool]:
    end = time.monotonic() + 30
    return lambda: time.monotonic() > end


def until(sets: Iterator[frozenset[str]], path: Path) -> bool:
    return any(str(path) in changed for changed in sets)


def test_the_first_set_says_that_the_watch_stands(
    watch_and_write: tuple[FileWatcher, Write], too_late: Callable[[], bool], tmp_path: Path
) -> None:
    watch, _ = watch_and_write
    assert next(watch.changes([str(tmp_path)], too_late)) == frozenset()


def test_what_changes_after_the_first_set_is_told(
    watch_and_write: tuple[FileWatcher, Write], too_late: Callable[[], bool], tmp_path: Path
) -> None:
    watch, write = watch_and_write
    sets = watch.changes([str(tmp_path)], too_late)
    next(sets)
    write(tmp_path / "a")
    assert next(sets) == {str(tmp_path / "a")}
    write(tmp_path / "b")
    assert until(sets, tmp_path / "b")


def test_changes_that_come_together_are_told_together(
    watch_and_write: tuple[FileWatcher, Write], too_late: Callable[[], bool], tmp_path: Path
) -> None:
    watch, write = watch_and_write
    sets = watch.changes([str(tmp_path)], too_late)
    next(sets)
    names = [tmp_path / f"file {number}" for number in range(10)]
    for name in names:
        write(name)
    seen: set[str] = set()
    rounds = 0
    while len(seen) < len(names):
        seen |= next(sets)
        rounds += 1
    assert seen == {str(name) for name in names}
    assert rounds <= 3


def test_several_folders_are_watched(
    watch_and_write: tuple[FileWatcher, Write], too_late: Callable[[], bool], tmp_path: Path
) -> None:
    watch, write = watch_and_write
    folders = [tmp_path / "one", tmp_path / "two" / "deep"]
    for folder in folders:
        folder.mkdir(parents=True)
    sets = watch.changes([str(folders[0]), str(tmp_path / "two")], too_late)
    next(sets)
    for folder in folders:
        write(folder / "file")
        assert until(sets, folder / "file")


def test_paths_are_absolute(
    watch_and_write: tuple[FileWatcher, Write],
    too_late: Callable[[], bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch, write = watch_and_write
    monkeypatch.chdir(tmp_path)
    sets = watch.changes(["."], too_late)
    next(sets)
    write(tmp_path / "a")
    assert next(sets) == {str(tmp_path / "a")}


def test_stop_ends_it(watch_and_write: tuple[FileWatcher, Write], tmp_path: Path) -> None:
    watch, _ = watch_and_write
    answers = iter([False, False, False])
    assert list(watch.changes([str(tmp_path)], lambda: next(answers, True))) in ([], [frozenset()])


def test_a_folder_that_is_not_there_is_not_found(watch_and_write: tuple[FileWatcher, Write], tmp_path: Path) -> None:
    watch, _ = watch_and_write
    with pytest.raises(NotFound, match="cannot watch"):
        watch.changes([str(tmp_path), str(tmp_path / "missing")], lambda: False)
