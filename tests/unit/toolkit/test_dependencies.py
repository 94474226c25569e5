from typing import Annotated, Protocol

from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.toolkit.dependencies import dependencies_of
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import tool


class Radio(Protocol):
    """A port."""


@tool(family="files", effect=Effect.READ)
def sing(
    song: Annotated[str, "which"], times: int | None = None, *, workers: Workers, radio: Radio | None = None
) -> ToolOutput:
    """Sing."""
    return ToolOutput(text=f"{song}{times}{workers}{radio}")


def test_ports_are_told_from_parameters() -> None:
    needs = dependencies_of(sing)
    assert list(needs.param_hints) == ["song", "times"]
    assert needs.required == {"workers": Workers}
    assert needs.optional == {"radio": Radio}
