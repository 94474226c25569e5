"""Rounds that are played, and an App with nothing behind it, for what shows them on a terminal."""

from collections.abc import Callable, Mapping
from pathlib import Path

from fakes.apps import bare_app
from marid.app.app import RequestScope, open_scope
from marid.app.rounds import RoundRequest
from marid.core.caller import Caller
from marid.core.errors import MaridError
from marid.core.events import EventListener
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import DisplaySettings, ResolvedSettings, Settings, make_settings
from marid.ports.model import Model
from marid.toolkit.event_stream import AsyncEventStream
from marid.toolkit.questions import Asker


def talking(
    place: Path,
    display: DisplaySettings | None = None,
    *models: Model,
    colour: bool = False,
    notes: tuple[str, ...] = (),
) -> RequestScope:
    """An App that resolves every conversation to the same settings, which know the flags' `model`."""
    settings = make_settings(home=str(place), provider=models[0].provider if models else "")

    def resolve(_project: str, _name: str, flags: Mapping[str, object]) -> ResolvedSettings:
        before, colon, after = str(flags.get("model", "")).partition(":")
        named = colon and before in [model.provider for model in models]
        own = make_settings(str(place), provider=before, model=after) if named else settings
        return ResolvedSettings(own._replace(display=display or DisplaySettings()), {}, notes)

    def providers(wanted: Settings) -> tuple[Model, ...]:
        return tuple(sorted(models, key=lambda model: model.provider != wanted.model.provider))

    app = bare_app(str(place), resolve_settings=resolve, providers=providers)
    return open_scope(app, Caller(face="cli"), str(place), str(place), colour=colour)


class Played:
    """Holds a round: everything in its order, then the end. What it was asked is in `said`."""

    def __init__(self, *what: "RoundEvent | Callable[[], None]", end: RoundEnd | MaridError | None = None) -> None:
        self._what = what
        self._end = RoundEnd("answered", "r1") if end is None else end
        self.said: list[RoundRequest] = []

    async def __call__(
        self, scope: RequestScope, saying: RoundRequest, listener: EventListener[RoundEvent], asker: Asker | None
    ) -> RoundEnd | None:
        self.said.append(saying)
        events = AsyncEventStream("r1", Caller(face="test"), listener)
        for one in self._what:
            if callable(one):
                one()
            else:
                await events.emit(one)
        if isinstance(self._end, MaridError):
            raise self._end
        return self._end
