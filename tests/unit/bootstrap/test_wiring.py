import os
from pathlib import Path
from threading import Thread

import pytest

from marid.adapters.file_watch import FileWatch
from marid.adapters.git.clones import CachedClones
from marid.adapters.git.local_git import LocalGit
from marid.adapters.sqlite_cache import SqliteCache
from marid.adapters.system_clipboard import SystemClipboard
from marid.assembly.outline_cache import CachedOutlines
from marid.bootstrap.parts import once
from marid.bootstrap.wiring import open_request
from marid.core.errors import NotFound


def test_the_workbench_knows_where_it_is(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    scope = open_request(cwd=str(tmp_path / "src"), environ={"MARID_HOME": "/h", "TERM": "xterm", "HOME": "/u"})
    assert (scope.cwd, scope.project, scope.home, scope.colour) == (str(tmp_path / "src"), str(tmp_path), "/h", True)
    assert scope.context_ports.user_git_files.home == "/u"


def test_a_home_that_is_given_is_stronger_than_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_request(home="h", environ={"MARID_HOME": "/other"}).settings.home == str(tmp_path / "h")


def test_rules_and_notes_of_the_settings_reach_the_workbench(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('rules = ["!*.md"]\nauto_compact = true\n')
    scope = open_request(cwd=str(tmp_path), home=str(tmp_path), environ={})
    assert scope.context_ports.settings_rules == ("!*.md",)
    assert scope.notes == (f"{tmp_path / 'config.toml'}:2: 'auto_compact' is not supported yet",)


def test_every_port_has_its_adapter(tmp_path: Path) -> None:
    scope = open_request(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={"PATH": os.environ["PATH"]})
    means = scope.context_ports
    assert isinstance(means.git(), LocalGit)
    assert isinstance(means.clones(lambda _: None), CachedClones)
    assert isinstance(means.cache(), SqliteCache)
    assert isinstance(means.outlines(), CachedOutlines)
    assert isinstance(scope.app.clipboard(), SystemClipboard)
    assert isinstance(scope.app.watch(), FileWatch)
    assert means.git() is means.git()


def test_a_working_directory_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(NotFound, match="the working directory is gone"):
        open_request(environ={})


def test_a_part_is_made_at_its_first_use_and_once_however_many_threads_ask() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    get = once(make)
    assert made == []
    askers = [Thread(target=get) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert (get(), made) == (0, [0])
