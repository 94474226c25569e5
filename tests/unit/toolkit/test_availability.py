from pathlib import Path
from typing import Protocol

from fakes.road import Road
from marid.core.policy.policy import Effect, Policy
from marid.toolkit.availability import available_tools
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool


class Bell(Protocol):
    """A port that nobody has."""


@tool(family="test", effect=Effect.READ)
def hello() -> ToolOutput:
    """Greet."""
    return ToolOutput(text="hello")


@tool(family="test", effect=Effect.READ)
def ring(*, bell: Bell) -> ToolOutput:
    """Ring."""
    return ToolOutput(text=str(bell))


def test_a_tool_is_offered_whose_ports_are_there(tmp_path: Path) -> None:
    scope = Road(tmp_path, hello).scope
    assert available_tools([hello, ring], scope()) == [hello]
    assert available_tools([hello, ring], scope(services={Bell: object()})) == [hello, ring]


def test_a_tool_that_policy_denies_is_not_offered(tmp_path: Path) -> None:
    assert available_tools([hello], Road(tmp_path, hello).scope(Policy(layers=()))) == []
