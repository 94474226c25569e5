from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from fakes.apps import AppFakes
from fakes.git import FakeRepository
from fakes.trees import plant
from marid.app.context_watch import follow
from marid.core.context import ContextReport, ContextRequest, FileSelection
from marid.core.errors import Exhausted
from marid.core.events import ContextEvent, Event, Notice


class Follower:
    """A watch over a project with a fake that is told what changed; each step writes once."""

    def __init__(self, top: Path, outside: AppFakes | None = None, **more: object) -> None:
        self.top = top
        self.outside = outside or AppFakes()
        self.on_note: Callable[[str], None] = lambda _: None
        self.left = 1 << 30
        """How many more questions the watch may answer."""
        request = ContextRequest(cwd=str(top), output="out.txt", **more)  # pyright: ignore[reportArgumentType]
        scope = self.outside.scope(str(top))
        self.reports: Iterator[ContextReport] = follow(scope, request, self._hear, self._stop)

    def start(self) -> str:
        next(self.reports)
        return self.output

    @property
    def output(self) -> str:
        return (self.top / "out.txt").read_text()

    def after(self, *names: str) -> str:
        """The output after the watch has told of these."""
        self.outside.watch.tell(*(str(self.top / name) for name in names))
        next(self.reports)
        return self.output

    def _stop(self) -> bool:
        self.left -= 1
        return self.left < 0

    def _hear(self, event: Event[ContextEvent]) -> None:
        if isinstance(event.what, Notice):
            self.on_note(event.what.text)


def started(top: Path, files: Mapping[str, str]) -> Follower:
    plant(top, files)
    follower = Follower(top)
    follower.start()
    return follower


def test_the_output_is_written_at_once_and_again_after_a_change(tmp_path: Path) -> None:
    follower = started(tmp_path, {"a.py": "one"})
    assert "one" in follower.output
    plant(tmp_path, {"a.py": "two"})
    assert "two" in follower.after("a.py")


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    follower = started(tmp_path, {"a.py": "one", "b.py": "unseen", "src/c.py": "unseen"})
    plant(tmp_path, {"a.py": "two"})
    (tmp_path / "b.py").unlink()
    plant(tmp_path, {"src/c.py": "other"})
    text = follower.after("a.py")
    assert "two" in text
    assert text.count("unseen") == 2


def test_a_new_file_is_found(tmp_path: Path) -> None:
    follower = started(tmp_path, {"a.py": "one"})
    plant(tmp_path, {"b.py": "new"})
    assert "File: b.py" in follower.after("b.py")


def test_a_file_saved_by_way_of_another_does_not_make_everything_be_read_again(tmp_path: Path) -> None:
    follower = started(tmp_path, {"a.py": "one", "b.py": "unseen"})
    plant(tmp_path, {"a.py": "two", "b.py": "other"})
    text = follower.after("a.py", "a.py~", "4913")
    assert "two" in text
    assert "unseen" in text


def test_a_file_that_goes_is_left_out(tmp_path: Path) -> None:
    follower = started(tmp_path, {"a.py": "one", "b.py": "two"})
    (tmp_path / "b.py").unlink()
    assert "b.py" not in follower.after("b.py")


def test_a_folder_stands_for_everything_in_it(tmp_path: Path) -> None:
    follower = started(tmp_path, {"src/a.py": "one", "b.py": "unseen"})
    plant(tmp_path, {"src/a.py": "two", "src/n.py": "new", "b.py": "other"})
    text = follower.after("src")
    assert ("two" in text, "new" in text, "unseen" in text) == (True, True, True)
    assert "other" in follower.after(".")


@pytest.mark.parametrize("name", [".gitignore", ".contextfiles", "src/.ignore"])
def test_a_change_of_the_rules_changes_the_selection(tmp_path: Path, name: str) -> None:
    plant(tmp_path, {"a.py": "one", "src/b.py": "two", name: "# nothing yet\n"})
    follower = Follower(tmp_path)
    assert "src/b.py" in follower.start()
    plant(tmp_path, {name: "b.py\n" if "context" not in name else "!b.py\n"})
    assert "File: src/b.py" not in follower.after(name)


def test_a_change_of_the_rule_file_changes_the_selection(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "one", "rules.txt": "!c.py\n"})
    follower = Follower(tmp_path, selection=FileSelection(config="rules.txt"))
    assert "File: a.py" in follower.start()
    plant(tmp_path, {"rules.txt": "!a.py\n"})
    assert "File: a.py" not in follower.after("rules.txt")


def test_what_differs_from_a_revision_is_asked_again(tmp_path: Path) -> None:
    repository = FakeRepository()
    repository.commit("one", {"a.py": b"one", "b.py": b"two"})
    repository.files |= {"a.py": b"1", "b.py": b"2"}
    plant(tmp_path, repository.files)
    outside = AppFakes(repositories={str(tmp_path): repository})
    follower = Follower(tmp_path, outside, selection=FileSelection(changed_since="HEAD"))
    assert "File: a.py" in follower.start()
    repository.files["a.py"] = b"one"
    plant(tmp_path, repository.files)
    text = follower.after("a.py")
    assert ("File: a.py" in text, "File: b.py" in text) == (False, True)


def test_its_own_output_and_lock_do_not_wake_it(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "one"})
    follower = Follower(tmp_path, lock="my.lock")
    follower.start()
    own = ["out.txt", ".out.txt.12.ab.tmp", "my.lock", ".my.lock.12.ab.tmp"]
    before = [(tmp_path / name).stat() for name in ("out.txt", "my.lock")]
    follower.outside.watch.tell(*(str(tmp_path / name) for name in own))
    follower.left = 1
    assert list(follower.reports) == []
    assert [(tmp_path / name).stat() for name in ("out.txt", "my.lock")] == before


def test_a_change_beside_its_own_output_wakes_it(tmp_path: Path) -> None:
    follower = started(tmp_path, {"a.py": "one"})
    plant(tmp_path, {"a.py": "two"})
    assert "two" in follower.after("out.txt", "a.py", ".out.txt.12.ab.tmp")


def test_the_first_error_is_raised(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x" * 100})
    with pytest.raises(Exhausted):
        Follower(tmp_path, max_bytes=10).start()


def test_a_later_error_is_told_and_the_old_output_stays_until_it_is_mended(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "one"})
    follower = Follower(tmp_path, max_bytes=10)
    first = follower.start()
    seen: list[str] = []

    def mend(note: str) -> None:
        seen.extend((note, follower.output))
        plant(tmp_path, {"a.py": "three"})
        follower.outside.watch.tell(str(tmp_path / "a.py"))

    follower.on_note = mend
    plant(tmp_path, {"a.py": "x" * 100})
    assert "three" in follower.after("a.py")
    assert seen[0].startswith("not written: Total content size exceeds limit")
    assert seen[1:] == [first]


def test_what_comes_between_asking_and_watching_is_not_missed(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "one"})
    follower = Follower(tmp_path)
    plant(tmp_path, {"b.py": "early"})
    follower.outside.watch.tell(str(tmp_path / "b.py"))
    assert "early" in follower.start()
    assert follower.outside.watch.folders == [str(tmp_path)]


def test_a_report_comes_with_every_writing(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "one"})
    follower = Follower(tmp_path)
    assert next(follower.reports).files == 1
    plant(tmp_path, {"b.py": "two"})
    follower.outside.watch.tell(str(tmp_path / "b.py"))
    assert next(follower.reports).files == 2
