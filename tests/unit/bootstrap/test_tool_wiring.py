"""Every port that a tool needs has an adapter behind it, made when it is first needed."""

from pathlib import Path

import anyio

from marid.app.tool_session import ToolAccess, open_tools
from marid.bootstrap.wiring import open_request
from marid.core.policy.policy import Effect
from marid.ports.beads import NO_WORKSPACE
from marid.ports.gauges import UiMetrics
from marid.ports.handoff import Handoff
from marid.ports.model import ModelLookup
from marid.ports.notes import NoteWriter, ReflectionWriter
from marid.ports.peers import Peers
from marid.toolkit.call_scope import LazyServices
from marid.toolkit.inventory import dependencies_of
from marid.tools.builtin import TOOLS


def test_every_port_of_every_tool_is_there(tmp_path: Path) -> None:
    scope = open_request(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={"PATH": "/usr/bin:/bin"})
    (tmp_path / ".beads").mkdir()
    hands = open_tools(scope, ToolAccess())
    needed = {port for spec in TOOLS for port in dependencies_of(spec).required.values()}
    ports = needed - {UiMetrics, NoteWriter, ReflectionWriter, Peers, ModelLookup, Handoff}
    assert [port for port in ports if port not in hands.call_scope.services] == []
    for port in ports:
        assert hands.call_scope.services[port] is hands.call_scope.services[port]
    elsewhere = {"get_ui_performance", *(spec.name for spec in TOOLS if spec.family == "memory")}
    assert {spec.name for spec in TOOLS} - {spec.name for spec in hands.tools()} == elsewhere
    assert hands.tools(every=True) == list(TOOLS)


def test_beads_are_offered_while_the_project_has_a_workspace(tmp_path: Path) -> None:
    scope = open_request(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={})
    hands = open_tools(scope, ToolAccess(families=("beads",)))
    assert hands.tools() == []
    refused = anyio.run(hands.call, "bd_list", dict[str, object]())
    assert refused.text == f"ERROR: 'bd_list' is not available here: {NO_WORKSPACE}"
    (tmp_path / ".beads").mkdir()
    assert len(hands.tools()) == 4


def test_a_service_is_made_once_and_when_needed() -> None:
    made: list[type] = []
    makers = {int: lambda: made.append(int) or 1, str: lambda: made.append(str) or "x", bytes: bytes}
    services = LazyServices(makers, {int: lambda: True, bytes: lambda: False})
    assert (len(services), set(services)) == (2, {int, str})
    assert [port in services for port in (int, str, bytes, float)] == [True, True, False, False]
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
