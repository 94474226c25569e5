"""What one caller may touch and do, from flags and settings."""

from pathlib import Path

import anyio
import pytest

from marid.app.tool_session import ToolAccess, build_path_scope, build_policy, notice_listener, open_tools
from marid.bootstrap.wiring import open_request
from marid.core.caller import Caller
from marid.core.errors import BadInput, NotFound
from marid.core.events import Notice, ToolCalled
from marid.core.policy.policy import Effect, Verdict
from marid.core.settings.values import make_settings
from marid.toolkit.outcome import ToolFailure

CALLER = Caller(face="test")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("alpha\n")
    (project / "b.txt").write_text("beta\n")
    return project


def test_several_calls_run_at_once_and_one_failure_does_not_lose_the_others(project: Path, tmp_path: Path) -> None:
    hands = open_tools(open_request(cwd=str(project), home=str(tmp_path / "home"), environ={}), ToolAccess())
    calls = [("read_file", {"path": "a.txt"}), ("read_file", {"path": "gone"}), ("read_file", {"path": "b.txt"})]
    first, second, third = anyio.run(hands.call_all, calls)
    assert [(one.ok, one.text) for one in (first, third)] == [(True, "alpha\n"), (True, "beta\n")]
    assert isinstance(second, ToolFailure)
    hands.close()


def test_two_projects_are_served_by_one_process_at_once(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("other alpha\n")
    scope = open_request(cwd=str(project), home=str(tmp_path / "home"), environ={})
    mine = open_tools(scope, ToolAccess())
    theirs = open_tools(scope, ToolAccess(roots=(str(other),), read_only=True))

    async def main() -> list[str]:
        args = {"path": "a.txt"}
        return [(await mine.call("read_file", args)).text, (await theirs.call("read_file", args)).text]

    assert anyio.run(main) == ["alpha\n", "other alpha\n"]
    assert "write_file" in dict(mine.tools_by_name())
    assert "write_file" not in dict(theirs.tools_by_name())


def test_families_may_be_chosen(project: Path, tmp_path: Path) -> None:
    scope = open_request(cwd=str(project), home=str(tmp_path / "home"), environ={})
    hands = open_tools(scope, ToolAccess(families=("shell",)))
    assert {spec.family for _, spec in hands.tools_by_name()} == {"shell"}
    with pytest.raises(BadInput, match="no family"):
        open_tools(scope, ToolAccess(families=("bead",)))


def test_the_project_s_policy_narrows_and_flags_grant() -> None:
    settings = make_settings(policy={"write": "allow", "exec": "ask"}, project_policy={"write": "ask", "exec": "deny"})
    plain = build_policy(settings, ToolAccess(), [])
    assert plain.verdict(Effect.WRITE, "edit_file") is Verdict.ASK
    granted = build_policy(settings, ToolAccess(allow=frozenset({Effect.WRITE, Effect.EXEC})), [])
    assert granted.verdict(Effect.WRITE, "edit_file") is Verdict.ALLOW
    assert granted.verdict(Effect.EXEC, "run_shell") is Verdict.DENY
    assert build_policy(make_settings(outside="ask"), ToolAccess(), []).outside is Verdict.ASK


def test_roots_come_from_flags_else_from_settings_else_from_the_project(project: Path, tmp_path: Path) -> None:
    scope = open_request(cwd=str(project), home=str(tmp_path / "home"), environ={"MARID_ROOTS": str(tmp_path)})
    assert [tree.path for tree in build_path_scope(scope, ToolAccess(roots=(".",))).guarded_roots] == [str(project)]
    assert [tree.path for tree in build_path_scope(scope, ToolAccess()).guarded_roots] == [str(tmp_path)]
    plain = open_request(cwd=str(project), home=str(tmp_path / "home"), environ={})
    assert [tree.path for tree in build_path_scope(plain, ToolAccess()).guarded_roots] == [str(project)]


def test_a_root_that_is_not_there_is_told(project: Path, tmp_path: Path) -> None:
    scope = open_request(cwd=str(project), home=str(tmp_path / "home"), environ={})
    with pytest.raises(NotFound):
        build_path_scope(scope, ToolAccess(roots=("nowhere",)))


def test_the_whole_disk_is_no_project(tmp_path: Path) -> None:
    scope = open_request(cwd="/", home=str(tmp_path / "home"), environ={})
    with pytest.raises(BadInput, match="--root DIR"):
        build_path_scope(scope, ToolAccess())


def test_what_the_person_should_know_is_heard(project: Path, tmp_path: Path) -> None:
    heard: list[str] = []
    scope = open_request(cwd=str(project), home=str(tmp_path / "home"), environ={})
    hands = open_tools(scope, ToolAccess(), listener=notice_listener(heard.append))
    anyio.run(hands.call_scope.emit, Notice("nothing confines the command"))
    anyio.run(hands.call_scope.emit, ToolCalled("read_file", "ok", 0.1))
    assert heard == ["nothing confines the command"]
    anyio.run(open_tools(scope, ToolAccess()).call_scope.emit, Notice("nobody listens"))
