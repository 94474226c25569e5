"""The workbench as a value: settings and ways to the outside, on which every verb works."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from marid.assembly.context_ports import ContextPorts
from marid.core.settings.values import ResolvedSettings, Settings

if TYPE_CHECKING:
    # Importing a module costs a quarter of a millisecond at every start; only the type checker wants these here.
    from marid.app.conversation_stores import ConversationStores
    from marid.app.toolbox import Toolbox
    from marid.ports.approvals import Approvals
    from marid.ports.clipboard import Clipboard
    from marid.ports.model import Model
    from marid.ports.watch import FileWatcher


class App(NamedTuple):
    """Made in bootstrap. Verbs are functions in this package that take it first."""

    settings: Settings
    cwd: str
    project: str
    context_ports: ContextPorts
    clipboard: "Callable[[], Clipboard]"
    watch: "Callable[[], FileWatcher]"
    toolbox: "Callable[[], Toolbox]"
    approvals: "Callable[[], Approvals]"
    resolve: Callable[[str, Mapping[str, object]], ResolvedSettings]
    """The settings for a conversation's name ("" for none), with those of flags, by key, above all others.

    Values of flags may be texts, as a command line has them. Raises: BadInput that names every problem.
    """
    stores: "Callable[[Settings], ConversationStores]"
    model: "Callable[[Settings, Mapping[str, str]], Model]"
    """The model's provider that settings name; the second are the files for the kinds `request` and `response` of what
    goes over the wire, where that is to be written down. Raises: BadInput for settings that name none."""
    providers: "Callable[[Settings], tuple[Model, ...]]"
    """Every provider that settings configure, the default one first. Raises: BadInput."""
    user_home: str = ""
    """The home folder of the person; empty where nobody knows it."""
    colour: bool = False
    notes: tuple[str, ...] = ()
    """What the user should know about his settings."""
