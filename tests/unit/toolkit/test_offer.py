from pathlib import Path
from typing import Protocol

from fakes.road import Road
from marid.core.policy import Effect, Policy
from marid.toolkit.offer import offered
from marid.toolkit.outcome import Done
from marid.toolkit.spec import tool


class Bell(Protocol):
    """A port that nobody has."""


@tool(family="test", effect=Effect.READ)
def hello() -> Done:
    """Greet."""
    return Done(text="hello")


@tool(family="test", effect=Effect.READ)
def ring(*, bell: Bell) -> Done:
    """Ring."""
    return Done(text=str(bell))


def test_a_tool_is_offered_whose_ports_are_there(tmp_path: Path) -> None:
    scope = Road(tmp_path, hello).scope
    assert offered([hello, ring], scope()) == [hello]
    assert offered([hello, ring], scope(services={Bell: object()})) == [hello, ring]


def test_a_tool_that_policy_denies_is_not_offered(tmp_path: Path) -> None:
    assert offered([hello], Road(tmp_path, hello).scope(Policy(layers=()))) == []
