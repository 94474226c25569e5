"""What the tools of all callers share."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from marid.toolkit.inventory import Inventory
from marid.workspace.guard.api import PathScope

if TYPE_CHECKING:
    from marid.toolkit.dispatch import Dispatcher  # imported when used: only a call needs it


class Toolbox(NamedTuple):
    """Made in bootstrap. A dispatcher calls the tools of an inventory, which may be a part of all.

    `standalone` are the tools that need no conversation around them.
    """

    inventory: Inventory
    standalone: Inventory
    make_dispatcher: "Callable[[Inventory], Dispatcher]"
    services_for: Callable[[PathScope], Mapping[type, object]]
