"""What the tools work with: which adapter stands behind which of their ports."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from marid.app.app import Toolbox
from marid.assembly.context_ports import ContextPorts
from marid.assembly.context_reader import ContextReader
from marid.bootstrap.environment import provider_secrets
from marid.bootstrap.parts import lazy, make, once
from marid.core.settings.values import Settings
from marid.ports.beads import BeadsWorkspace
from marid.ports.git import Git
from marid.ports.processes import ProcessRunner
from marid.ports.web import Web
from marid.ports.workers import Workers
from marid.toolkit.call_scope import LazyServices
from marid.toolkit.handles import PathResolver
from marid.toolkit.inventory import Inventory, LazyInventory
from marid.tools.module_index import TOOL_MODULES
from marid.workspace.guard.api import PathScope

if TYPE_CHECKING:
    from marid.bootstrap.call_pipeline import DispatcherFactory
    from marid.toolkit.dispatch import Dispatcher

_Maker = Callable[[], Any]
_GIT = "marid.adapters.git.local_git:LocalGit"


def make_toolbox(home: str, environ: Mapping[str, str], ports: ContextPorts, shared: Mapping[str, _Maker]) -> Toolbox:
    """The tools of a process, and what they need. `shared` makes `workers`, `approvals` and `threads`."""
    wiring = _ToolWiring(home, environ, ports, shared)
    return Toolbox(
        LazyInventory(TOOL_MODULES), wiring.make_dispatcher, wiring.make_blocking_dispatcher, wiring.services_for
    )


class _ToolWiring:
    def __init__(
        self, home: str, environ: Mapping[str, str], ports: ContextPorts, shared: Mapping[str, _Maker]
    ) -> None:
        self._environ = environ
        self._context_ports = ports
        self._audit = lazy("marid.adapters.session_log:SessionLog", home, "marid")
        notes: dict[str, list[str]] = {"warnings": [], "late_notes": []}
        processes = once(partial(_make_processes, home, environ, notes["warnings"]))
        self._shared = {Workers: shared["workers"], ProcessRunner: processes}

        def make_factory() -> "DispatcherFactory":
            executor = partial(make, "marid.bootstrap.call_pipeline:make_executor", home, shared, processes, notes)
            late = notes["late_notes"]
            return make("marid.bootstrap.call_pipeline:DispatcherFactory", home, self._audit(), executor, late)

        self._dispatchers = once(make_factory)

    def make_dispatcher(self, settings: Settings, inventory: Inventory) -> "Dispatcher":
        """What calls the tools of an inventory, which may be a part of all, on an event loop."""
        return self._factory(settings).make(inventory)

    def make_blocking_dispatcher(self, settings: Settings, inventory: Inventory) -> "Dispatcher":
        """The same without an event loop."""
        return self._factory(settings).make_blocking(inventory)

    def services_for(self, settings: Settings, path_scope: PathScope) -> Mapping[type, object]:
        """The ports that tools work with, by type."""
        git = once(lambda: make(_GIT, self._environ, roots=path_scope.writable_paths()))
        context_ports = self._context_ports._replace(settings_rules=settings.context.rules, git=git)
        web = settings.web
        own: dict[type, Callable[[], object]] = {
            **self._shared,
            Git: git,
            Web: lazy("marid.adapters.web.client:WebClient", allow=web.net_allow, engine=web.search_url),
            ContextReader: lazy("marid.assembly.guarded_context:GuardedContextReader", context_ports, settings.context),
            BeadsWorkspace: lazy("marid.adapters.beads:ProjectBeads", path_scope, self._environ),
            PathResolver: lambda: path_scope,
        }
        return LazyServices(own, {BeadsWorkspace: _beads_check(path_scope)})

    def _factory(self, settings: Settings) -> "DispatcherFactory":
        factory = self._dispatchers()
        self._audit().hide(provider_secrets(settings, self._environ))
        return factory


def _make_processes(home: str, environ: Mapping[str, str], warnings: list[str]) -> ProcessRunner:
    environment = make("marid.bootstrap.shell_environment:shell_environment", environ, home)
    warnings += environment.warnings
    variables, program = environment.variables, make("marid.adapters.sandbox.bubblewrap:find_bubblewrap")
    sandbox = make("marid.adapters.sandbox.bubblewrap:Sandbox", program, env=variables, state=home) if program else None
    return make("marid.adapters.process.shell_runner:ShellRunner", env=variables, sandbox=sandbox)


def _beads_check(scope: PathScope) -> Callable[[], bool]:
    """Whether the first root has a workspace now; only the adapter reads it, through the guard."""
    folders = [os.path.join(root.path, ".beads") for root in scope.guarded_roots[:1]]
    return partial(os.path.isdir, folders[0]) if folders else bool
