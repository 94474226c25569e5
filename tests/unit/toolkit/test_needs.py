from typing import Annotated, Protocol

from marid.core.policy import Effect
from marid.ports.workers import Workers
from marid.toolkit.needs import needs_of
from marid.toolkit.outcome import Done
from marid.toolkit.spec import tool


class Radio(Protocol):
    """A port."""


@tool(family="files", effect=Effect.READ)
def sing(
    song: Annotated[str, "which"], times: int | None = None, *, workers: Workers, radio: Radio | None = None
) -> Done:
    """Sing."""
    return Done(text=f"{song}{times}{workers}{radio}")


def test_ports_are_told_from_parameters() -> None:
    needs = needs_of(sing)
    assert list(needs.hints) == ["song", "times"]
    assert needs.needed == {"workers": Workers}
    assert needs.wanted == {"radio": Radio}
