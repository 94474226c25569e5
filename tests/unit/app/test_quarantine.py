from pathlib import Path

import pytest

from fakes.apps import AppFakes
from marid.app.app import RequestScope
from marid.app.quarantine import delete_item, quarantined_items, restore_item
from marid.core.settings.values import Settings
from marid.workspace.quarantine import Quarantine


@pytest.fixture
def scope(tmp_path: Path) -> RequestScope:
    (tmp_path / "project").mkdir()
    return AppFakes().scope(str(tmp_path / "project"), Settings(home=str(tmp_path / "home")))


def test_the_items_are_those_of_the_home(scope: RequestScope, tmp_path: Path) -> None:
    project = tmp_path / "project"
    with Quarantine(scope.home).watch([(str(project), (".git", ".vscode"))]):
        (project / ".git").mkdir()
        (project / ".vscode").mkdir()
    (first, second), notes = quarantined_items(scope)
    assert notes == []
    assert restore_item(scope, first.id) == first
    assert delete_item(scope, second.id) == second
    assert [path.name for path in project.iterdir()] == [".git"]
    assert quarantined_items(scope) == ([], [])
