import os
from pathlib import Path

import pytest

from fakes.trees import plant
from marid.assembly.caller_limits import check_targets, without_protected
from marid.assembly.selection import Selection, Targets, make_selection_rules, resolve_targets, select_files
from marid.core.context import ContextFence, FileSelection
from marid.core.errors import Refused
from marid.core.events import ContextEvent
from marid.workspace.rules.ignore_files import UserGitFiles


def _unheard(what: ContextEvent) -> None:
    del what


def selected(top: Path, home: Path) -> list[str]:
    found: Selection = select_files(
        resolve_targets([str(top)], "/"), make_selection_rules(FileSelection(), "/", UserGitFiles()), _unheard
    )
    return list(without_protected(found, ContextFence(roots=(str(top),), home=str(home))).paths())


def test_histories_and_the_home_are_left_out(tmp_path: Path) -> None:
    plant(
        tmp_path, {"a.py": "", "src/History.toml": "", "src/x_history.toml": "", "home/config.toml": "", "homes/b": ""}
    )
    assert selected(tmp_path, tmp_path / "home") == ["a.py", "homes/b"]


def test_another_name_of_such_a_file_is_left_out_too(tmp_path: Path) -> None:
    plant(tmp_path, {"history.toml": "x", "home/key": "y", "plain": "z"})
    for old, new in (("history.toml", "a"), ("home/key", "b"), ("plain", "c")):
        os.link(tmp_path / old, tmp_path / new)
    assert selected(tmp_path, tmp_path / "home") == ["c", "plain"]


def test_a_file_that_has_gone_is_left_to_the_reader(tmp_path: Path) -> None:
    plant(tmp_path, {"a": ""})
    found = select_files(
        resolve_targets([str(tmp_path)], "/"), make_selection_rules(FileSelection(), "/", UserGitFiles()), _unheard
    )
    (tmp_path / "a").unlink()
    assert list(without_protected(found, ContextFence(roots=(str(tmp_path),), home="/nowhere")).paths()) == ["a"]


@pytest.mark.parametrize("top", ["/out", "/project2", "/project/home", "/project/home/logs"])
def test_targets_elsewhere_are_refused(top: str) -> None:
    with pytest.raises(Refused, match="a target"):
        check_targets(Targets(top, ("",), ()), ContextFence(roots=("/project",), home="/project/home"))


@pytest.mark.parametrize("top", ["/project", "/project/src", "/project/homes"])
def test_targets_in_the_roots_are_not(top: str) -> None:
    check_targets(Targets(top, ("",), ()), ContextFence(roots=("/other", "/project"), home="/project/home"))
