"""An App whose ways to the outside are all fakes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from fakes.approvals import FakeApprovals
from fakes.apps import bare_app
from fakes.cache import FakeCache
from fakes.git import FakeClones, FakeGit, FakeRepository
from fakes.outlines import FakeOutlines
from fakes.watch import FakeWatch
from marid.app.app import RequestScope, open_scope
from marid.assembly.context_ports import ContextPorts
from marid.core.caller import Caller
from marid.core.errors import Unavailable
from marid.core.settings.values import ResolvedSettings, Settings
from marid.workspace.rules.ignore_files import UserGitFiles


class FakeClipboard:
    """Keeps what it was given, or refuses everything."""

    def __init__(self, *, broken: bool = False) -> None:
        self.copied: list[bytes] = []
        self._broken = broken

    def copy(self, data: bytes) -> str:
        if self._broken:
            raise Unavailable("cannot copy to the clipboard")
        self.copied.append(data)
        return "fake"


def _resolved(settings: Settings, *_: object) -> ResolvedSettings:
    return ResolvedSettings(settings, {})


@dataclass(frozen=True, kw_only=True)
class Outside:
    """The fakes behind an App, for a test to set up and to look into."""

    repositories: dict[str, FakeRepository] = field(default_factory=dict[str, FakeRepository])
    clones: dict[tuple[str, str | None], str] = field(default_factory=dict[tuple[str, str | None], str])
    cache: FakeCache = field(default_factory=FakeCache)
    outlines: FakeOutlines = field(default_factory=FakeOutlines)
    clipboard: FakeClipboard = field(default_factory=FakeClipboard)
    watch: FakeWatch = field(default_factory=FakeWatch)
    approvals: FakeApprovals = field(default_factory=FakeApprovals)
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """What cloning a URL tells."""

    def means(self, rules: tuple[str, ...] = ()) -> ContextPorts:
        return ContextPorts(
            git=lambda: FakeGit(repositories=self.repositories),
            clones=self._clones,
            cache=lambda: self.cache,
            outlines=lambda: self.outlines,
            user_git_files=UserGitFiles(),
            settings_rules=rules,
        )

    def scope(self, cwd: str, settings: Settings | None = None) -> RequestScope:
        settings = Settings() if settings is None else settings
        app = bare_app(
            settings.home,
            context_ports=self.means(settings.context.rules),
            clipboard=lambda: self.clipboard,
            watch=lambda: self.watch,
            approvals=lambda: self.approvals,
            resolve_settings=partial(_resolved, settings),
        )
        return open_scope(app, Caller(face="cli"), cwd, cwd)

    def _clones(self, on_note: Callable[[str], None]) -> FakeClones:
        for note in self.notes.values():
            on_note(note)
        return FakeClones(folders=self.clones)
