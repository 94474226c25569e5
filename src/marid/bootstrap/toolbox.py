"""What the tools work with: which adapter stands behind which of their ports."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from marid.app.toolbox import Toolbox
from marid.bootstrap.memory import known_keys
from marid.bootstrap.once import once
from marid.core.settings import Settings
from marid.ports.beads import Beads
from marid.ports.gauges import Gauges
from marid.ports.git import Git
from marid.ports.processes import Processes
from marid.ports.web import Web
from marid.ports.workers import Workers
from marid.toolkit.ground import Ground
from marid.toolkit.inventory import Inventory
from marid.tools.inventory import ALONE, TOOLS
from marid.workspace.guard import Territory

if TYPE_CHECKING:
    from marid.adapters.approvals import SqliteApprovals
    from marid.adapters.shell_runner import ShellRunner
    from marid.ports.audit import Audit
    from marid.toolkit.dispatch import Dispatcher

Maker = Callable[[], object]


class Services(Mapping[type, object]):
    """Ports by type, each made when a tool first asks for it."""

    def __init__(self, makers: Mapping[type, Maker]) -> None:
        self._makers = {port: once(make) for port, make in makers.items()}

    def __getitem__(self, port: type) -> object:
        return self._makers[port]()

    def __contains__(self, port: object) -> bool:
        return port in set[object](self._makers)

    def __iter__(self) -> Iterator[type]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class Parts:
    """Makes what all callers of one process share."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self.warnings: list[str] = []

    def audit(self) -> "Audit":
        from marid.adapters.session_log import SessionLog

        return SessionLog(self._settings.home, "marid", secrets=known_keys(self._settings, self._environ))

    def processes(self) -> "ShellRunner":
        from marid.adapters.sandbox import Sandbox, bubblewrap
        from marid.adapters.shell_runner import ShellRunner
        from marid.bootstrap.shell_environment import shell_environment

        environment = shell_environment(self._environ, self._settings.home)
        self.warnings += environment.warnings
        program = bubblewrap()
        sandbox = Sandbox(program, env=environment.variables, state=self._settings.home) if program else None
        return ShellRunner(env=environment.variables, sandbox=sandbox)

    def web(self) -> Web:
        from marid.adapters.web_client import WebClient

        return WebClient(allow=self._settings.net_allow, engine=self._settings.search_url)

    def gauges(self) -> Gauges:
        from marid.adapters.gauges import NoGauges

        return NoGauges()

    def beads(self, territory: Territory) -> Beads:
        from marid.adapters.beads import ProjectBeads

        return ProjectBeads(territory, self._environ)


def make_toolbox(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    git: Callable[[], Git],
    workers: Callable[[], Workers],
    approvals: "Callable[[], SqliteApprovals]",
) -> Toolbox:
    """The tools and all that they need; `git`, `workers` and `approvals` are shared with others."""
    parts = Parts(settings, environ)
    services = Services(
        {
            Workers: workers,
            Git: git,
            Processes: parts.processes,
            Web: parts.web,
            Gauges: parts.gauges,
        }
    )

    def road() -> "Callable[[Inventory], Dispatcher]":
        from marid.bootstrap.road import make_road

        return make_road(settings.home, approvals(), parts.audit(), services, parts.warnings)

    shared = once(road)

    def dispatcher(inventory: Inventory) -> "Dispatcher":
        return shared()(inventory)

    def bound(territory: Territory) -> Mapping[type, object]:
        own: dict[type, Maker] = {port: (lambda port=port: services[port]) for port in services}
        return Services({**own, Beads: lambda: parts.beads(territory), Ground: lambda: territory})

    return Toolbox(inventory=Inventory(TOOLS), alone=Inventory(ALONE), dispatcher=dispatcher, services=bound)
