"""What the tools of all callers share."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from marid.toolkit.dispatch import Dispatcher
from marid.toolkit.inventory import Inventory
from marid.workspace.guard import Territory


class Toolbox(NamedTuple):
    """Made in bootstrap. A dispatcher calls the tools of an inventory, which may be a part of all."""

    inventory: Inventory
    dispatcher: Callable[[Inventory], Dispatcher]
    services: Callable[[Territory], Mapping[type, object]]
