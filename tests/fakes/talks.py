"""Rounds that are played, and an App with nothing behind it, for what shows them on a terminal."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from marid.app.app import App
from marid.app.round_request import RoundRequest
from marid.assembly.context_ports import ContextPorts
from marid.core.caller import Caller
from marid.core.errors import MaridError, Unavailable
from marid.core.events import EventListener
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import DisplaySettings, ResolvedSettings, Settings, make_settings
from marid.ports.model import Model
from marid.toolkit.event_stream import AsyncEventStream
from marid.toolkit.questions import Asker
from marid.workspace.rules.ignore_files import UserGitFiles


def _nothing(*_: object) -> NoReturn:
    raise Unavailable("these tests go nowhere")


def talking(
    place: Path,
    display: DisplaySettings | None = None,
    *models: Model,
    colour: bool = False,
    notes: tuple[str, ...] = (),
) -> App:
    """An App that resolves every conversation to the same settings, which know the flags' `model`."""
    settings = make_settings(home=str(place), provider=models[0].provider if models else "")

    def resolve(name: str, flags: Mapping[str, object]) -> ResolvedSettings:
        before, colon, after = str(flags.get("model", "")).partition(":")
        named = colon and before in [model.provider for model in models]
        own = make_settings(str(place), provider=before, model=after) if named else settings
        return ResolvedSettings(own._replace(display=display or DisplaySettings()), {}, notes)

    def providers(wanted: Settings) -> tuple[Model, ...]:
        return tuple(sorted(models, key=lambda model: model.provider != wanted.model.provider))

    return App(
        settings=settings,
        cwd=str(place),
        project=str(place),
        context_ports=ContextPorts(
            git=_nothing, clones=_nothing, cache=_nothing, outlines=_nothing, user_git_files=UserGitFiles()
        ),
        clipboard=_nothing,
        watch=_nothing,
        toolbox=_nothing,
        approvals=_nothing,
        resolve=resolve,
        stores=_nothing,
        model=_nothing,
        providers=providers,
        colour=colour,
    )


class Played:
    """Holds a round: everything in its order, then the end. What it was asked is in `said`."""

    def __init__(self, *what: "RoundEvent | Callable[[], None]", end: RoundEnd | MaridError | None = None) -> None:
        self._what = what
        self._end = RoundEnd("answered", "r1") if end is None else end
        self.said: list[RoundRequest] = []

    async def __call__(
        self, app: App, saying: RoundRequest, listener: EventListener[RoundEvent], asker: Asker | None
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
