"""An App whose parts are fakes, and rounds that are played."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from fakes.approvals import FakeApprovals
from fakes.git import FakeClones, FakeGit, FakeRepository
from fakes.outlines import FakeOutlines
from fakes.ports import FakeCache, FakeClipboard, FakeWatch
from marid.app.app import App, RequestScope, open_scope
from marid.app.rounds import RoundRequest
from marid.assembly.context_ports import ContextPorts
from marid.core.caller import Caller
from marid.core.errors import MaridError, Unavailable
from marid.core.events import EventListener
from marid.core.round_events import RoundEnd, RoundEvent
from marid.core.settings.values import DisplaySettings, ResolvedSettings, Settings, make_settings
from marid.ports.model import Model
from marid.toolkit.event_stream import AsyncEventStream
from marid.toolkit.questions import Asker
from marid.toolkit.thread_pool import DaemonThreadPool
from marid.workspace.rules.ignore_files import UserGitFiles


def _nothing(*_: object) -> NoReturn:
    raise Unavailable("there is nothing here")


def bare_app(home: str = "", **parts: Any) -> App:
    """The parts that are not given raise Unavailable."""
    names = [name for name in App._fields if name not in ("home", "context_ports", "user_home")]
    ports = ContextPorts(_nothing, _nothing, _nothing, _nothing, UserGitFiles())
    usual: dict[str, Any] = {**dict.fromkeys(names, _nothing), "context_ports": ports, "threads": DaemonThreadPool}
    return App(home=home, **{**usual, **parts})


@dataclass(frozen=True, kw_only=True)
class AppFakes:
    """The fakes behind an App, for a test to set up and to look into."""

    repositories: dict[str, FakeRepository] = field(default_factory=dict[str, FakeRepository])
    clones: dict[tuple[str, str | None], str] = field(default_factory=dict[tuple[str, str | None], str])
    cache: FakeCache = field(default_factory=FakeCache)
    outlines: FakeOutlines = field(default_factory=FakeOutlines)
    clipboard: FakeClipboard = field(default_factory=FakeClipboard)
    watch: FakeWatch = field(default_factory=FakeWatch)
    approvals: FakeApprovals = field(default_factory=FakeApprovals)
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """The notice that cloning a URL gives."""

    def context_ports(self, rules: tuple[str, ...] = ()) -> ContextPorts:
        return ContextPorts(
            git=lambda: FakeGit(repositories=self.repositories),
            clones=self._clones,
            cache=lambda: self.cache,
            outlines=lambda: self.outlines,
            user_git_files=UserGitFiles(),
            settings_rules=rules,
        )

    def scope(self, cwd: str, settings: Settings | None = None) -> RequestScope:
        settings = settings or Settings()

        def resolve(*_: object) -> ResolvedSettings:
            return ResolvedSettings(settings, {})

        app = bare_app(
            settings.home,
            context_ports=self.context_ports(settings.context.rules),
            clipboard=lambda: self.clipboard,
            watch=lambda: self.watch,
            approvals=lambda: self.approvals,
            resolve_settings=resolve,
        )
        return open_scope(app, Caller(face="cli"), cwd, cwd)

    def _clones(self, on_note: Callable[[str], None]) -> FakeClones:
        for note in self.notes.values():
            on_note(note)
        return FakeClones(folders=self.clones)


def display_scope(
    place: Path,
    display: DisplaySettings | None = None,
    *models: Model,
    colour: bool = False,
    notes: tuple[str, ...] = (),
) -> RequestScope:
    """A scope in which every conversation has the same settings, with the `model` of the flags."""
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


class PlayedRound:
    """Plays a round: these events in order, then the end. `said` has the requests."""

    def __init__(self, *what: "RoundEvent | Callable[[], None]", end: RoundEnd | MaridError | None = None) -> None:
        self._what = what
        self._end = RoundEnd("answered", "r1") if end is None else end
        self.said: list[RoundRequest] = []

    async def __call__(
        self, scope: RequestScope, request: RoundRequest, listener: EventListener[RoundEvent], asker: Asker | None
    ) -> RoundEnd | None:
        self.said.append(request)
        events = AsyncEventStream(Caller(face="test"), listener, "r1")
        for one in self._what:
            if callable(one):
                one()
            else:
                await events.emit(one)
        if isinstance(self._end, MaridError):
            raise self._end
        return self._end
