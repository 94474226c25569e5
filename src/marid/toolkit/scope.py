"""For whom a call is made: who calls, what they may, where, and with what."""

from collections import ChainMap
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import cast

from marid.core.caller import Caller
from marid.core.events import ToolHappening
from marid.core.policy import Policy
from marid.toolkit.asking import Asker
from marid.workspace.guard import Territory


def _unheard(what: ToolHappening) -> None:
    del what


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Frozen, so that several conversations and projects can be served at once. `services` are ports by type.

    `run` names this run of the program: what a person allows "always" holds in the conversation, else in the run.
    `started` is told the caller's id of a call directly before something happens that cannot be taken back: what it
    raises keeps that from happening. Reading is no such thing.
    """

    caller: Caller
    policy: Policy
    territory: Territory
    services: Mapping[type, object] = field(default_factory=dict[type, object])
    asker: Asker | None = None
    run: str = ""
    emit: Callable[[ToolHappening], None] = _unheard
    started: Callable[[str], Awaitable[None]] | None = None

    def with_services(self, own: Mapping[type, object]) -> "Scope":
        """With these besides, and before, those that there are, which are made only when one is asked for."""
        return replace(self, services=ChainMap(dict(own), cast("MutableMapping[type, object]", self.services)))

    async def starts(self, call: str) -> None:
        """Tell whoever wants to know that this call begins to act."""
        if self.started is not None:
            await self.started(call)

    @property
    def standing(self) -> str:
        """Where a standing grant holds."""
        return f"conversation:{self.caller.conversation}" if self.caller.conversation else f"run:{self.run}"
