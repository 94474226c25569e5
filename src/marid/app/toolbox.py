"""What the tools of all callers share."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from marid.core.settings.values import Settings
from marid.toolkit.inventory import Inventory
from marid.workspace.guard.api import PathScope

if TYPE_CHECKING:
    from marid.toolkit.dispatch import Dispatcher  # imported when used: only a call needs it


class Toolbox(NamedTuple):
    """Made in bootstrap.

    `make_dispatcher` gives what calls the tools of an inventory, which may hold some of them only, on an event loop;
    `make_blocking_dispatcher` the same without one. `services_for` gives the ports that tools work with, by type.
    """

    inventory: Inventory
    make_dispatcher: "Callable[[Settings, Inventory], Dispatcher]"
    make_blocking_dispatcher: "Callable[[Settings, Inventory], Dispatcher]"
    services_for: Callable[[Settings, PathScope], Mapping[type, object]]
