"""What verbs work with: `App` is what a process has, `RequestScope` what one request has."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from marid.assembly.context_ports import ContextPorts
from marid.core.caller import Caller
from marid.core.settings.values import ResolvedSettings, Settings

if TYPE_CHECKING:
    # Importing a module costs a quarter of a millisecond at every start; only the type checker needs these here.
    from marid.core.hooks import Hooks
    from marid.ports.approvals import ApprovalStore
    from marid.ports.clipboard import Clipboard
    from marid.ports.conversations import ConversationStores
    from marid.ports.model import Model
    from marid.ports.watch import FileWatcher
    from marid.toolkit.dispatch import Dispatcher
    from marid.toolkit.inventory import Inventory
    from marid.toolkit.thread_pool import DaemonThreadPool
    from marid.workspace.guard.api import PathScope

_NO_OVERRIDES: Mapping[str, object] = MappingProxyType({})


class Toolbox(NamedTuple):
    """The tools, what calls those of an inventory with and without an event loop, and their ports by type."""

    inventory: "Inventory"
    make_dispatcher: "Callable[[Settings, Inventory], Dispatcher]"
    make_blocking_dispatcher: "Callable[[Settings, Inventory], Dispatcher]"
    services_for: "Callable[[Settings, PathScope], Mapping[type, object]]"


class App(NamedTuple):
    """What a process has, for one home. Bootstrap builds it once; each part is made at its first use."""

    home: str
    context_ports: ContextPorts
    clipboard: "Callable[[], Clipboard]"
    watch: "Callable[[], FileWatcher]"
    toolbox: "Callable[[], Toolbox]"
    approvals: "Callable[[], ApprovalStore]"
    stores: "Callable[[], ConversationStores]"
    threads: "Callable[[], DaemonThreadPool]"
    resolve_settings: Callable[[str, str, Mapping[str, object]], ResolvedSettings]
    """The settings for a project, the name of a conversation ("" for none) and overrides by key.

    Values of overrides may be texts, as a command line has them. Raises: BadInput that names every problem.
    """
    model: "Callable[[Settings, Mapping[str, str]], Model]"
    """The provider that the settings name; the second argument has the files for the wire logs, by kind (`request`,
    `response`). Raises: BadInput for settings that name none."""
    providers: "Callable[[Settings], tuple[Model, ...]]"
    """Every provider that the settings configure, the default one first. Raises: BadInput."""
    user_home: str = ""
    """The home folder of the person; "" if it is not known."""
    hooks: "Hooks | None" = None
    """None: no hook is registered."""


class RequestScope(NamedTuple):
    """What one request has: who asks, where, and under which settings. Every verb of this package takes it first."""

    app: App
    caller: Caller
    cwd: str
    project: str
    resolver: Callable[[], ResolvedSettings]
    conversation: str = ""
    overrides: Mapping[str, object] = _NO_OVERRIDES
    """Settings by key that are stronger than all files and variables."""
    colour: bool = False

    @property
    def home(self) -> str:
        """The folder where marid keeps its own files."""
        return self.app.home

    def resolve(self) -> ResolvedSettings:
        """The settings of `conversation`, resolved at the first call. Raises: BadInput that names every problem."""
        return self.resolver()

    @property
    def settings(self) -> Settings:
        """The settings in force. Raises: BadInput."""
        return self.resolve().settings

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the settings files. Raises: BadInput."""
        return self.resolve().notes

    @property
    def stores(self) -> "ConversationStores":
        """The conversations of the home. Raises: Unavailable."""
        return self.app.stores()

    @property
    def threads(self) -> "DaemonThreadPool":
        """Where blocking work of this process runs."""
        return self.app.threads()

    @property
    def toolbox(self) -> "Toolbox":
        """The tools and what they need."""
        return self.app.toolbox()

    def make_model(self, log_files: Mapping[str, str]) -> "Model":
        """The provider that the settings name; see `App.model`. Raises: BadInput."""
        return self.app.model(self.settings, log_files)

    @property
    def context_ports(self) -> ContextPorts:
        """What packing a context needs, with the rules of the settings. Raises: BadInput."""
        return self.app.context_ports._replace(settings_rules=self.settings.context.rules)

    def within(self, conversation: str, overrides: Mapping[str, object] = _NO_OVERRIDES) -> "RequestScope":
        """The same request in another conversation, with further overrides: its settings are resolved once more."""
        merged = {**self.overrides, **overrides}
        if conversation == self.conversation and merged == self.overrides:
            return self
        resolver = cache(partial(self.app.resolve_settings, self.project, conversation, merged))
        return self._replace(conversation=conversation, overrides=merged, resolver=resolver)


def open_scope(app: App, caller: Caller, cwd: str, project: str, *, colour: bool = False) -> RequestScope:
    """Begin a request. Its settings are resolved when they are first needed."""
    resolver = cache(partial(app.resolve_settings, project, "", _NO_OVERRIDES))
    return RequestScope(app, caller, cwd, project, resolver, colour=colour)
