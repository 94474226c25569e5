"""Listeners that keep what they hear."""

from typing import Generic, TypeVar

from marid.core.events import AsyncEmit, Event

W = TypeVar("W")
T = TypeVar("T")


def emit_into(heard: list[W]) -> AsyncEmit[W]:
    """Emits into a list, without an envelope."""

    async def emit(what: W) -> None:
        heard.append(what)

    return emit


class Recorder(Generic[W]):
    """A listener that keeps every event."""

    def __init__(self) -> None:
        self.events: list[Event[W]] = []

    async def __call__(self, event: Event[W]) -> None:
        self.events.append(event)

    @property
    def heard(self) -> list[W]:
        """What happened, without the envelopes."""
        return [event.what for event in self.events]

    def of(self, kind: type[T]) -> list[T]:
        """The events of one kind."""
        return [what for what in self.heard if isinstance(what, kind)]
