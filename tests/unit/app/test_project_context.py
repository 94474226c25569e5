import os
from pathlib import Path

import pytest

from fakes.apps import AppFakes
from fakes.ports import FakeClipboard
from fakes.trees import plant, plant_names
from marid.app.project_context import assemble, copy, explain_path, lock_differences, save, send
from marid.assembly.pipeline import ContextRun
from marid.core.caller import Caller
from marid.core.context import ContextRequest, ContextView, FileSelection, RenderOptions, byte_limit
from marid.core.errors import BadInput, NotFound, Unavailable
from marid.core.events import ContextEvent, Event, Notice, PackProgress, WalkProgress
from marid.core.settings.values import make_settings

CALLER = Caller(face="test")


def started(top: Path | str, outside: AppFakes | None = None, **more: str) -> ContextRun:
    outside = outside or AppFakes()
    request = ContextRequest(cwd=str(top), **more)  # pyright: ignore[reportArgumentType]
    return assemble(outside.scope(str(top)), request, lambda _: None)


def written(run: ContextRun) -> bytes:
    return b"".join(piece for batch in run for piece in batch)


def test_what_happens_is_told_in_order(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x"})
    told: list[Event[ContextEvent]] = []
    request = ContextRequest(cwd=str(tmp_path))
    written(assemble(AppFakes().scope(str(tmp_path)), request, told.append))
    assert [(event.sequence, event.what) for event in told] == [
        (0, WalkProgress(files=1)),
        (1, PackProgress(files=1, bytes=1)),
    ]
    assert len({event.stream for event in told}) == 1


def test_a_target_that_is_elsewhere_is_cloned(tmp_path: Path) -> None:
    plant(tmp_path, {"copy/a.py": "x", "here/b.py": "y"})
    url = "https://example.com/owner/name"
    outside = AppFakes(clones={(url, "v1"): str(tmp_path / "copy")}, notes={url: "the copy may be old"})
    scope = outside.scope(str(tmp_path), make_settings(clone_host="https://example.com/"))
    told: list[Event[ContextEvent]] = []
    request = ContextRequest(cwd=scope.cwd, selection=FileSelection(targets=("owner/name", "here"), branch="v1"))
    text = written(assemble(scope, request, told.append))
    assert b"File: copy/a.py\n" in text
    assert b"File: here/b.py\n" in text
    assert told[0].what == Notice(text="the copy may be old")


def test_what_is_here_is_never_cloned(tmp_path: Path) -> None:
    plant(tmp_path, {"owner/name/a.py": "x"})
    request = ContextRequest(cwd=str(tmp_path), selection=FileSelection(targets=("owner/name",)))
    run = assemble(AppFakes().scope(str(tmp_path)), request, lambda _: None)
    assert run.request is request


def test_output_is_sent_as_it_is_made(tmp_path: Path) -> None:
    plant(tmp_path, {"p/a.py": "x\n"})
    with (tmp_path / "sent").open("wb") as file:
        send(started(tmp_path / "p"), file.fileno())
    assert (tmp_path / "sent").read_bytes() == written(started(tmp_path / "p"))


def test_a_reader_who_has_gone_is_told(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x\n"})
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        send(started(tmp_path), writer)
    os.close(writer)


@pytest.mark.parametrize("view", ContextView)
def test_an_output_in_the_project_never_finds_itself(tmp_path: Path, view: ContextView) -> None:
    plant_names(tmp_path, "a.py")
    for _ in range(2):
        request = ContextRequest(
            cwd=str(tmp_path),
            selection=FileSelection(defaults=False),
            render=RenderOptions(views=(view,)),
            output="sub/../out.txt",
        )
        (tmp_path / "sub").mkdir(exist_ok=True)
        save(assemble(AppFakes().scope(str(tmp_path)), request, lambda _: None), str(tmp_path / "out.txt"))
        text = (tmp_path / "out.txt").read_text()
        assert "a.py" in text
        assert ".tmp" not in text
        assert "out.txt" not in text
    assert sorted(os.listdir(tmp_path)) == ["a.py", "out.txt", "sub"]


class Stopped(Exception):
    """Something went wrong on the way."""


@pytest.mark.parametrize("error", [Stopped, KeyboardInterrupt])
def test_whatever_happens_on_the_way_the_old_output_stays(tmp_path: Path, error: type[BaseException]) -> None:
    plant(tmp_path, {"a.py": "x" * 3_000_000, "b.py": "y", "out.txt": "old"})

    def listener(event: Event[ContextEvent]) -> None:
        if isinstance(event.what, PackProgress):
            raise error

    request = ContextRequest(cwd=str(tmp_path), output="out.txt")
    run = assemble(AppFakes().scope(str(tmp_path)), request, listener)
    with pytest.raises(error):
        save(run, str(tmp_path / "out.txt"))
    assert (tmp_path / "out.txt").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py", "out.txt"]


def test_a_lock_is_written_beside_any_kind_of_output(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x\n"})
    locks: list[bytes] = []
    for use in ("save", "send", "copy"):
        run = started(tmp_path, lock="my.lock", output="out")
        if use == "save":
            save(run, str(tmp_path / "out"))
        elif use == "send":
            with open(os.devnull, "wb") as null:
                send(run, null.fileno())
        else:
            copy(AppFakes().scope(str(tmp_path)), run)
        locks.append((tmp_path / "my.lock").read_bytes())
        (tmp_path / "my.lock").unlink()
    assert locks[0].startswith(b'{"marid_lock": 1')
    assert len(set(locks)) == 1


def test_a_frozen_run_leaves_its_lock_alone(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x\n"})
    save(started(tmp_path, lock="my.lock", output="out"), str(tmp_path / "out"))
    before = _written(tmp_path / "my.lock")
    request = ContextRequest(cwd=str(tmp_path), lock="my.lock", output="out", frozen=True)
    save(assemble(AppFakes().scope(str(tmp_path)), request, lambda _: None), str(tmp_path / "out"))
    assert _written(tmp_path / "my.lock") == before


def _written(path: Path) -> tuple[int, int, int]:
    """Which file it is and when it was last written; reading it may change the rest."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def test_output_goes_to_the_clipboard_whole(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x\n"})
    outside = AppFakes()
    assert copy(outside.scope(str(tmp_path)), started(tmp_path)) == "fake"
    assert outside.clipboard.copied == [written(started(tmp_path))]


def test_without_a_clipboard_no_lock_is_left(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x\n"})
    outside = AppFakes(clipboard=FakeClipboard(broken=True))
    with pytest.raises(Unavailable):
        copy(outside.scope(str(tmp_path)), started(tmp_path, lock="my.lock"))
    assert os.listdir(tmp_path) == ["a.py"]


def explained(top: Path, path: str, *targets: str, rules: tuple[str, ...] = (), cwd: str = "") -> str:
    wanted = FileSelection(targets=targets or (str(top),), rules=rules)
    return explain_path(AppFakes().scope(cwd or str(top)), wanted, path)


def test_the_rule_behind_a_file_is_told(tmp_path: Path) -> None:
    plant(tmp_path, {"src/.contextfiles": "# my rules\n!*.md\n", "src/a.md": "", "src/b.py": "", "x.log": ""})
    assert explained(tmp_path, "src/a.md") == "src/a.md: excluded by '!*.md', src/.contextfiles:2"
    assert explained(tmp_path, "src/b.py") == "src/b.py: included because no rule matches it"
    assert explained(tmp_path, "x.log") == "x.log: excluded by the built-in default '*.log'"
    assert explained(tmp_path, "x.log", rules=("!*.py", "*.log")) == "x.log: included by '*.log', --rule:2"


def test_a_path_may_be_named_from_the_target_or_from_where_one_stands(tmp_path: Path) -> None:
    plant(tmp_path, {"p/src/a.py": "", "b.py": ""})
    for path in ("src/a.py", "p/src/a.py", str(tmp_path / "p/src/a.py")):
        assert explained(tmp_path / "p", path, cwd=str(tmp_path)).startswith("src/a.py: included")
    with pytest.raises(BadInput, match=r"'b\.py' is not below"):
        explained(tmp_path / "p", "b.py", cwd=str(tmp_path))
    with pytest.raises(NotFound, match="not found"):
        explained(tmp_path / "p", "p/src/gone.py", cwd=str(tmp_path))


def test_what_the_user_named_is_in_because_of_that(tmp_path: Path) -> None:
    plant(tmp_path, {"x.log": "", "build/y.py": ""})
    assert explained(tmp_path, ".") == ".: included because it is named"
    assert explained(tmp_path, "x.log", ".", "x.log") == "x.log: included because it is named"
    assert explained(tmp_path, "build", ".", "build") == "build: included because it is named"
    assert "excluded by '!x.log', --rule:1" in explained(tmp_path, "x.log", ".", "x.log", rules=("!x.log",))


def test_a_name_cannot_move_the_reader_s_cursor(tmp_path: Path) -> None:
    plant(tmp_path, {"a\x1b[31m\n.py": ""})
    assert explained(tmp_path, "a\x1b[31m\n.py") == '"a\\033[31m\\n.py": included because no rule matches it'


def test_changes_since_a_lock_are_told_and_its_own_output_is_none(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x\n", "b.py": "y\n"})
    scope = AppFakes().scope(str(tmp_path))
    save(started(tmp_path, lock="my.lock", output="out.txt"), str(tmp_path / "out.txt"))
    assert list(lock_differences(scope, "my.lock", lambda _: None)) == []
    plant(tmp_path, {"b.py": "y z\n", "c.py": "z\n"})
    (tmp_path / "a.py").unlink()
    assert list(lock_differences(scope, "my.lock", lambda _: None)) == [
        "- a.py",
        "~ b.py (2 -> 3 tokens)",
        "+ c.py (full, 2 tokens)",
    ]


@pytest.mark.parametrize(("megabytes", "size"), [(1, 1 << 20), (0.5, 1 << 19), (100.0, 100 << 20)])
def test_a_limit_is_counted_in_bytes(megabytes: float, size: int) -> None:
    assert byte_limit(megabytes) == size


@pytest.mark.parametrize("megabytes", [0, -1, float("nan"), float("inf"), 1e300])
def test_what_is_no_size_is_refused(megabytes: float) -> None:
    with pytest.raises(BadInput, match="megabytes above 0"):
        byte_limit(megabytes)
