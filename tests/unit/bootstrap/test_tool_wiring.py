"""Every port that a tool needs has an adapter behind it, made when it is first needed."""

from pathlib import Path

import anyio

from marid.app.tool_access import ToolAccess
from marid.app.tool_session import open_tools
from marid.bootstrap.tool_wiring import LazyServices
from marid.bootstrap.wiring import open_request
from marid.core.policy.policy import Effect
from marid.toolkit.dependencies import dependencies_of
from marid.tools.builtin import STANDALONE_TOOLS


def test_every_port_of_every_tool_is_there(tmp_path: Path) -> None:
    scope = open_request(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={"PATH": "/usr/bin:/bin"})
    hands = open_tools(scope, ToolAccess())
    ports = {port for spec in STANDALONE_TOOLS for port in dependencies_of(spec).required.values()}
    assert [port for port in ports if port not in hands.call_scope.services] == []
    for port in ports:
        assert hands.call_scope.services[port] is hands.call_scope.services[port]
    assert len(hands.tools_by_name()) == sum(len(spec.names) for spec in STANDALONE_TOOLS)


def test_a_service_is_made_once_and_when_needed() -> None:
    made: list[type] = []
    services = LazyServices({int: lambda: made.append(int) or 1, str: lambda: made.append(str) or "x"})
    assert (len(services), set(services), int in services, float in services) == (2, {int, str}, True, False)
    assert [services[int], services[int]] == [1, 1]
    assert made == [int]


def test_a_command_runs_in_the_roots_of_whoever_called(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    scope = open_request(
        cwd=str(project), home=str(tmp_path / "home"), environ={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    )
    hands = open_tools(scope, ToolAccess(allow=frozenset({Effect.EXEC})))
    outcome = anyio.run(hands.call, "run_shell", {"command": "pwd; echo made > here.txt"})
    assert outcome.ok, outcome.text
    assert f"STDOUT:\n{project}\n" in outcome.text
    assert (project / "here.txt").read_text() == "made\n"
