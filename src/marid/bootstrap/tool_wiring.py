"""What the tools work with: which adapter stands behind which of their ports."""

import os
from _thread import allocate_lock
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from marid.app.toolbox import Toolbox
from marid.assembly.context_ports import ContextPorts
from marid.assembly.context_reader import ContextReader
from marid.bootstrap.model_wiring import provider_secrets
from marid.core.settings.values import ContextSettings, Settings
from marid.ports.beads import BeadsWorkspace
from marid.ports.git import Git
from marid.ports.processes import ProcessRunner
from marid.ports.web import Web
from marid.ports.workers import Workers
from marid.toolkit.call_scope import LazyServices
from marid.toolkit.inventory import Inventory, LazyInventory
from marid.toolkit.path_resolver import PathResolver
from marid.tools.module_index import TOOL_MODULES
from marid.workspace.guard.api import PathScope

if TYPE_CHECKING:
    from marid.adapters.process.shell_runner import ShellRunner
    from marid.adapters.session_log import SessionLog
    from marid.adapters.sqlite_approvals import SqliteApprovals
    from marid.bootstrap.call_pipeline import DispatcherFactory
    from marid.toolkit.dispatch import Dispatcher
    from marid.toolkit.thread_pool import DaemonThreadPool

Maker = Callable[[], object]


class ToolAdapters:
    """Makes what all callers of one process share."""

    def __init__(self, home: str, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = environ
        self.warnings: list[str] = []

    def audit(self) -> "SessionLog":
        from marid.adapters.session_log import SessionLog

        return SessionLog(self._home, "marid")

    def processes(self) -> "ShellRunner":
        from marid.adapters.process.shell_runner import ShellRunner
        from marid.adapters.sandbox.bubblewrap import Sandbox, find_bubblewrap
        from marid.bootstrap.shell_environment import shell_environment

        environment = shell_environment(self._environ, self._home)
        self.warnings += environment.warnings
        program = find_bubblewrap()
        sandbox = Sandbox(program, env=environment.variables, state=self._home) if program else None
        return ShellRunner(env=environment.variables, sandbox=sandbox)

    def web(self, settings: Settings) -> Web:
        from marid.adapters.web.client import WebClient

        return WebClient(allow=settings.web.net_allow, engine=settings.web.search_url)

    def contexts(self, settings: ContextSettings, ports: ContextPorts) -> ContextReader:
        from marid.app.project_context import byte_limit
        from marid.assembly.guarded_context import GuardedContextReader

        ports = ports._replace(settings_rules=settings.rules)
        limit = byte_limit(settings.max_size_mb)
        return GuardedContextReader(ports, max_bytes=limit, mask=settings.mask, encoding=settings.encoding)

    def beads(self, scope: PathScope) -> BeadsWorkspace:
        from marid.adapters.beads.project_beads import ProjectBeads

        return ProjectBeads(scope, self._environ)


def _beads_check(scope: PathScope) -> Callable[[], bool]:
    """Whether the first root has a workspace now; only the adapter reads it, through the guard."""
    folders = [os.path.join(root.path, ".beads") for root in scope.guarded_roots[:1]]
    return partial(os.path.isdir, folders[0]) if folders else bool


class SharedAdapters(NamedTuple):
    """What tools share with the rest of the program."""

    context_ports: ContextPorts
    workers: Callable[[], Workers]
    approvals: "Callable[[], SqliteApprovals]"
    threads: "Callable[[], DaemonThreadPool]"


def make_toolbox(home: str, environ: Mapping[str, str], shared: SharedAdapters) -> Toolbox:
    """The tools and what they need."""
    adapters = ToolAdapters(home, environ)
    services = LazyServices(
        {
            Workers: shared.workers,
            Git: shared.context_ports.git,
            ProcessRunner: adapters.processes,
        }
    )
    made: list[tuple[SessionLog, DispatcherFactory]] = []
    lock = allocate_lock()  # several requests may make their first call at once

    def factory_for(settings: Settings) -> "DispatcherFactory":
        with lock:
            if not made:
                from marid.bootstrap.call_pipeline import DispatcherFactory, PipelinePorts

                log = adapters.audit()

                def make_ports() -> PipelinePorts:
                    return PipelinePorts(home, shared.threads(), shared.approvals(), log, services, adapters.warnings)

                made.append((log, DispatcherFactory(home, log, make_ports)))
        audit, factory = made[0]
        audit.hide(provider_secrets(settings, environ))
        return factory

    def make_dispatcher(settings: Settings, inventory: Inventory) -> "Dispatcher":
        return factory_for(settings).make(inventory)

    def make_blocking_dispatcher(settings: Settings, inventory: Inventory) -> "Dispatcher":
        return factory_for(settings).make_blocking(inventory)

    def services_for(settings: Settings, path_scope: PathScope) -> Mapping[type, object]:
        own: dict[type, Maker] = {port: (lambda port=port: services[port]) for port in services}
        own |= {
            Web: lambda: adapters.web(settings),
            ContextReader: lambda: adapters.contexts(settings.context, shared.context_ports),
            BeadsWorkspace: lambda: adapters.beads(path_scope),
            PathResolver: lambda: path_scope,
        }
        return LazyServices(own, {BeadsWorkspace: _beads_check(path_scope)})

    return Toolbox(
        inventory=LazyInventory(TOOL_MODULES),
        make_dispatcher=make_dispatcher,
        make_blocking_dispatcher=make_blocking_dispatcher,
        services_for=services_for,
    )
