"""Every port that a tool needs has an adapter behind it, made when it is first needed."""

from pathlib import Path

import anyio

from marid.app.hands import open_hands
from marid.app.reach import Reach
from marid.bootstrap.toolbox import Services
from marid.bootstrap.wiring import build
from marid.core.caller import Caller
from marid.core.policy import Effect
from marid.toolkit.needs import needs_of
from marid.tools.inventory import ALONE


def test_every_port_of_every_tool_is_there(tmp_path: Path) -> None:
    app = build(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={"PATH": "/usr/bin:/bin"})
    hands = open_hands(app, Reach(), Caller(face="test"))
    ports = {port for spec in ALONE for port in needs_of(spec).needed.values()}
    assert [port for port in ports if port not in hands.scope.services] == []
    for port in ports:
        assert hands.scope.services[port] is hands.scope.services[port]
    assert len(hands.offered()) == sum(len(spec.names) for spec in ALONE)


def test_a_service_is_made_once_and_when_needed() -> None:
    made: list[type] = []
    services = Services({int: lambda: made.append(int) or 1, str: lambda: made.append(str) or "x"})
    assert (len(services), set(services), int in services, float in services) == (2, {int, str}, True, False)
    assert [services[int], services[int]] == [1, 1]
    assert made == [int]


def test_a_command_runs_in_the_roots_of_whoever_called(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    app = build(cwd=str(project), home=str(tmp_path / "home"), environ={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    hands = open_hands(app, Reach(allow=frozenset({Effect.EXEC})), Caller(face="test"))
    outcome = anyio.run(hands.call, "run_shell", {"command": "pwd; echo made > here.txt"})
    assert outcome.ok, outcome.text
    assert f"STDOUT:\n{project}\n" in outcome.text
    assert (project / "here.txt").read_text() == "made\n"
