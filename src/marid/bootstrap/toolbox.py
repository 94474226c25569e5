"""What the tools work with: which adapter stands behind which of their ports."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from marid.app.toolbox import Toolbox
from marid.bootstrap.once import once
from marid.core.settings import Settings
from marid.ports.audit import Audit
from marid.ports.beads import Beads
from marid.ports.gauges import Gauges
from marid.ports.git import Git
from marid.ports.processes import Processes
from marid.ports.web import Web
from marid.ports.workers import Workers
from marid.toolkit.deeds import Deeds, Runner
from marid.toolkit.desk import Desk
from marid.toolkit.dispatch import Dispatcher
from marid.toolkit.ground import Ground
from marid.toolkit.inventory import Inventory
from marid.toolkit.outcome import Change, Ran, Run
from marid.toolkit.scope import Scope
from marid.toolkit.threads import Threads
from marid.tools.inventory import TOOLS
from marid.workspace.commit import commit
from marid.workspace.forbidden import runs_later
from marid.workspace.guard import Territory
from marid.workspace.recover import recover

if TYPE_CHECKING:
    from marid.adapters.approvals import SqliteApprovals
    from marid.adapters.shell_runner import ShellRunner

Maker = Callable[[], object]

# Pools of their own: a long command or a question must not keep a thread from the reading of a file.
_COMMANDS, _WAITING = 32, 4


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

    def approvals(self) -> "SqliteApprovals":
        from marid.adapters.approvals import SqliteApprovals

        return SqliteApprovals(os.path.join(self._settings.home, "approvals.db"))

    def audit(self) -> Audit:
        from marid.adapters.session_log import SessionLog

        return SessionLog(self._settings.home, "marid")

    def processes(self) -> "ShellRunner":
        from marid.adapters.sandbox import Sandbox, bubblewrap
        from marid.adapters.shell_runner import ShellRunner
        from marid.bootstrap.shell_environment import shell_environment

        environment = shell_environment(self._environ, self._settings.home)
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
    settings: Settings, environ: Mapping[str, str], *, git: Callable[[], Git], workers: Callable[[], Workers]
) -> Toolbox:
    """The tools and all that they need; `git` and `workers` are shared with others."""
    recover(settings.home)
    parts = Parts(settings, environ)
    threads = Threads()
    approvals = parts.approvals()
    audit = parts.audit()
    services = Services(
        {
            Workers: workers,
            Git: git,
            Processes: parts.processes,
            Web: parts.web,
            Gauges: parts.gauges,
        }
    )
    deeds = Deeds(
        threads=threads,
        desk=Desk(approvals, Threads(_WAITING)),
        standing=approvals,
        audit=audit,
        commit=Committer(settings.home),
        run=_runner(Threads(_COMMANDS), services),
        runs_later=runs_later,
        confined=lambda: _processes(services).state(),
    )

    def dispatcher(inventory: Inventory) -> Dispatcher:
        return Dispatcher(inventory=inventory, threads=threads, deeds=deeds, audit=audit)

    def bound(territory: Territory) -> Mapping[type, object]:
        own: dict[type, Maker] = {port: (lambda port=port: services[port]) for port in services}
        return Services({**own, Beads: lambda: parts.beads(territory), Ground: lambda: territory})

    return Toolbox(inventory=Inventory(TOOLS), dispatcher=dispatcher, services=bound)


def _processes(services: Mapping[type, Any]) -> Processes:
    return services[Processes]


def _runner(threads: Threads, services: Mapping[type, Any]) -> Runner:
    """Starts commands; how is found out when the first one comes."""

    async def run(plan: Run, scope: Scope, *, unconfined: bool) -> Ran:
        from marid.adapters.plan_runner import PlanRunner

        processes = await threads.run(lambda: _processes(services))
        return await PlanRunner(processes=processes, threads=threads)(plan, scope, unconfined=unconfined)

    return run


class Committer:
    """Writes changes, and notes in the home what a kill would leave half done."""

    def __init__(self, home: str) -> None:
        self._home = home

    def __call__(self, changes: Sequence[Change]) -> None:
        os.makedirs(self._home, mode=0o700, exist_ok=True)
        commit(changes, self._home)
