"""The workbench as a value: settings and ways to the outside, on which every verb works."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from marid.assembly.means import Means
from marid.core.settings import Settings

if TYPE_CHECKING:
    # Importing a module costs a quarter of a millisecond at every start; only the type checker wants these here.
    from marid.app.toolbox import Toolbox
    from marid.ports.approvals import Approvals
    from marid.ports.clipboard import Clipboard
    from marid.ports.watch import Watch


class App(NamedTuple):
    """Made in bootstrap. Verbs are functions in this package that take it first."""

    settings: Settings
    cwd: str
    project: str
    means: Means
    clipboard: "Callable[[], Clipboard]"
    watch: "Callable[[], Watch]"
    toolbox: "Callable[[], Toolbox]"
    approvals: "Callable[[], Approvals]"
    colour: bool = False
    notes: tuple[str, ...] = ()
    """What the user should know about his settings."""
