"""The road is made with the first call."""

from pathlib import Path

import anyio

from marid.app.tool_session import ToolAccess, open_tools
from marid.bootstrap.call_pipeline import commit_changes
from marid.bootstrap.wiring import open_request
from marid.toolkit.outcome import PlannedChange
from marid.workspace.guard.api import PathScope


def test_listing_the_tools_makes_no_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    scope = open_request(cwd=str(tmp_path), home=str(home), environ={"PATH": "/usr/bin:/bin"})
    hands = open_tools(scope, ToolAccess())
    assert hands.tools_by_name()
    assert not home.exists()
    assert anyio.run(hands.call, "list_directory", {"path": "."}).ok


def test_a_commit_needs_no_home_beforehand(tmp_path: Path) -> None:
    with PathScope([str(tmp_path)]) as territory:
        change = PlannedChange(path=territory.resolve("new.txt"), before=None, after=b"x")
        commit_changes(str(tmp_path / "home"), [change])
    assert (tmp_path / "new.txt").read_bytes() == b"x"
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
