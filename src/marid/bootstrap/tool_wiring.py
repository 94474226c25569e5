"""What the tools work with: which adapter stands behind which of their ports."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from marid.app.toolbox import Toolbox
from marid.assembly.context_ports import ContextPorts
from marid.assembly.context_reader import ContextReader
from marid.bootstrap.model_wiring import provider_secrets
from marid.bootstrap.once import once
from marid.core.settings.values import Settings
from marid.ports.beads import BeadsWorkspace
from marid.ports.gauges import UiMetrics
from marid.ports.git import Git
from marid.ports.processes import ProcessRunner
from marid.ports.web import Web
from marid.ports.workers import Workers
from marid.toolkit.inventory import Inventory
from marid.toolkit.path_resolver import PathResolver
from marid.tools.builtin import STANDALONE_TOOLS, TOOLS
from marid.workspace.guard.api import PathScope

if TYPE_CHECKING:
    from marid.adapters.process.shell_runner import ShellRunner
    from marid.adapters.sqlite_approvals import SqliteApprovals
    from marid.ports.audit import AuditLog
    from marid.toolkit.dispatch import Dispatcher

Maker = Callable[[], object]


class LazyServices(Mapping[type, object]):
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


class ToolAdapters:
    """Makes what all callers of one process share."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self.warnings: list[str] = []

    def audit(self) -> "AuditLog":
        from marid.adapters.session_log import SessionLog

        return SessionLog(self._settings.home, "marid", secrets=provider_secrets(self._settings, self._environ))

    def processes(self) -> "ShellRunner":
        from marid.adapters.process.shell_runner import ShellRunner
        from marid.adapters.sandbox.bubblewrap import Sandbox, find_bubblewrap
        from marid.bootstrap.shell_environment import shell_environment

        environment = shell_environment(self._environ, self._settings.home)
        self.warnings += environment.warnings
        program = find_bubblewrap()
        sandbox = Sandbox(program, env=environment.variables, state=self._settings.home) if program else None
        return ShellRunner(env=environment.variables, sandbox=sandbox)

    def web(self) -> Web:
        from marid.adapters.web.client import WebClient

        return WebClient(allow=self._settings.web.net_allow, engine=self._settings.web.search_url)

    def contexts(self, ports: ContextPorts) -> ContextReader:
        from marid.app.project_context import byte_limit
        from marid.assembly.guarded_context import GuardedContextReader

        settings = self._settings.context
        limit = byte_limit(settings.max_size_mb)
        return GuardedContextReader(ports, max_bytes=limit, mask=settings.mask, encoding=settings.encoding)

    def gauges(self) -> UiMetrics:
        from marid.adapters.gauges import NoGauges

        return NoGauges()

    def beads(self, territory: PathScope) -> BeadsWorkspace:
        from marid.adapters.beads.project_beads import ProjectBeads

        return ProjectBeads(territory, self._environ)


def make_toolbox(
    settings: Settings,
    environ: Mapping[str, str],
    context_ports: ContextPorts,
    *,
    workers: Callable[[], Workers],
    approvals: "Callable[[], SqliteApprovals]",
) -> Toolbox:
    """The tools and all that they need; `context_ports`, `workers` and `approvals` are shared with others."""
    parts = ToolAdapters(settings, environ)
    services = LazyServices(
        {
            Workers: workers,
            Git: context_ports.git,
            ContextReader: once(lambda: parts.contexts(context_ports)),
            ProcessRunner: parts.processes,
            Web: parts.web,
            UiMetrics: parts.gauges,
        }
    )

    def make_factory() -> "Callable[[Inventory], Dispatcher]":
        from marid.bootstrap.call_pipeline import make_dispatcher_factory

        return make_dispatcher_factory(settings.home, approvals(), parts.audit(), services, parts.warnings)

    shared = once(make_factory)

    def make_dispatcher(inventory: Inventory) -> "Dispatcher":
        return shared()(inventory)

    def services_for(territory: PathScope) -> Mapping[type, object]:
        own: dict[type, Maker] = {port: (lambda port=port: services[port]) for port in services}
        return LazyServices({**own, BeadsWorkspace: lambda: parts.beads(territory), PathResolver: lambda: territory})

    return Toolbox(
        inventory=Inventory(TOOLS),
        standalone=Inventory(STANDALONE_TOOLS),
        make_dispatcher=make_dispatcher,
        services_for=services_for,
    )
