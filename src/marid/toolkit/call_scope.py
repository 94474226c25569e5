"""For whom a call is made: who calls, what they may, where, and with what."""

from _thread import LockType, allocate_lock
from collections import ChainMap
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from marid.core.caller import Caller
from marid.core.events import AsyncEmit, ToolEvent
from marid.core.policy.policy import Policy, Verdict
from marid.toolkit.spec import ToolSpec
from marid.workspace.guard.api import PathScope

if TYPE_CHECKING:
    # Listing the tools needs none of these.
    from marid.core.hooks import Hooks
    from marid.toolkit.questions import Asker


async def ignore_event(what: object) -> None:
    """The emitter where no one listens."""
    del what


@dataclass(frozen=True, kw_only=True)
class CallScope:
    """Frozen, so that several conversations and projects can be served at once. `services` are ports by type.

    `run` names this run of the program: what a person allows "always" holds in the conversation, else in the run.
    `on_effect` gets the id of a call directly before it does what cannot be undone, and prevents that by raising.
    Reading is no such effect.
    """

    caller: Caller
    policy: Policy
    path_scope: PathScope
    services: Mapping[type, object] = field(default_factory=dict[type, object])
    asker: "Asker | None" = None
    run_id: str = ""
    emit: AsyncEmit[ToolEvent] = ignore_event
    on_effect: Callable[[str], Awaitable[None]] | None = None
    hooks: "Hooks | None" = None
    """None: no hook is registered."""

    def with_services(self, own: Mapping[type, object]) -> "CallScope":
        """With these besides, and before, those that there are, which are made only when one is asked for."""
        return replace(self, services=ChainMap(dict(own), cast("MutableMapping[type, object]", self.services)))

    def verdict(self, spec: ToolSpec) -> Verdict:
        """What policy says about the tool for this caller."""
        return self.policy.verdict(spec.effect, *spec.names)

    async def notify_effect(self, call: str) -> None:
        """Report that this call begins to act."""
        if self.on_effect is not None:
            await self.on_effect(call)

    @property
    def grant_scope(self) -> str:
        """Where a standing grant holds."""
        return f"conversation:{self.caller.conversation}" if self.caller.conversation else f"run:{self.run_id}"


@dataclass(eq=False)
class LazyServices(Mapping[type, object]):
    """Ports by type, each made when a tool first asks for it. Those with a condition are there while it holds."""

    makers: Mapping[type, Callable[[], object]]
    conditions: Mapping[type, Callable[[], bool]] = field(default_factory=dict[type, Callable[[], bool]])
    _made: dict[type, object] = field(default_factory=dict[type, object])
    # Calls that run at once may ask for the same port.
    _lock: LockType = field(default_factory=allocate_lock)

    def __getitem__(self, port: type) -> object:
        with self._lock:
            if port not in self._made:
                self._made[port] = self.makers[port]()
            return self._made[port]

    def __contains__(self, port: object) -> bool:
        return isinstance(port, type) and port in self.makers and self._holds(port)

    def __iter__(self) -> Iterator[type]:
        return filter(self._holds, self.makers)

    def __len__(self) -> int:
        return sum(map(self._holds, self.makers))

    def _holds(self, port: type) -> bool:
        return port not in self.conditions or self.conditions[port]()
