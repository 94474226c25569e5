"""Tools bound to one caller: its roots, its policy, its events."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from marid.app.app import RequestScope
from marid.core.errors import BadInput
from marid.core.events import Event, EventListener, Notice, ToolEvent
from marid.core.policy.policy import Effect, Policy, parse_effects, parse_policy
from marid.core.settings.values import Settings
from marid.toolkit.call_scope import CallScope, ignore_event
from marid.toolkit.event_stream import AsyncEventStream
from marid.toolkit.inventory import Inventory, available_tools, is_denied
from marid.toolkit.outcome import Outcome
from marid.toolkit.spec import ToolSpec
from marid.workspace.guard.api import PathScope

if TYPE_CHECKING:
    from marid.toolkit.dispatch import Dispatcher
    from marid.toolkit.questions import Asker


@dataclass(frozen=True, kw_only=True)
class ToolAccess:
    """What one run may access and do, as the flags say; the settings decide the rest."""

    roots: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    allow: frozenset[Effect] = frozenset()
    trust: bool = False
    read_only: bool = False
    wait: bool = False
    rootless: bool = False
    """Outside a project and without named roots, continue with none instead of an error."""


_NO_FLAGS = ToolAccess()


class ToolSession:
    """Tools bound to one caller, its roots and its policy. A process may have several.

    `dispatcher` is called with the first call of a tool.
    """

    def __init__(
        self, inventory: Inventory, call_scope: CallScope, dispatcher: "Callable[[Inventory], Dispatcher]"
    ) -> None:
        self.inventory = inventory
        self._make_dispatcher = dispatcher
        self.call_scope = call_scope

    @cached_property
    def _dispatcher(self) -> "Dispatcher":
        return self._make_dispatcher(self.inventory)

    def make_dispatcher(self, inventory: Inventory) -> "Dispatcher":
        """What calls the tools of an inventory, which may be a part of all. It reads files, so call it in a thread."""
        return self._make_dispatcher(inventory)

    def tools(self, *, every: bool = False) -> list[ToolSpec]:
        """The tools that this caller is offered; with `every`, also those that need what is missing here."""
        if every:
            return [spec for spec in self.inventory if not is_denied(spec, self.call_scope)]
        return available_tools(self.inventory, self.call_scope)

    def tools_by_name(self, *, every: bool = False) -> list[tuple[str, ToolSpec]]:
        """The same by name and alias."""
        return [(name, spec) for spec in self.tools(every=every) for name in spec.names]

    async def call(self, name: str, args: Mapping[str, object], *, asker: "Asker | None" = None) -> Outcome:
        """Call one tool. Raises nothing but cancellation. `asker` replaces the session's for this call."""
        return await self._dispatcher.call(name, args, self._scope_for(asker))

    async def call_all(self, calls: Sequence[tuple[str, Mapping[str, object]]]) -> list[Outcome]:
        """Call several tools at once; the results are in the order of the calls."""
        return await self._dispatcher.call_all(calls, self.call_scope)

    def close(self) -> None:
        """Close the roots."""
        self.call_scope.path_scope.close()

    def _scope_for(self, asker: "Asker | None") -> CallScope:
        return self.call_scope if asker is None else replace(self.call_scope, asker=asker)


def access_from_flags(*given: dict[str, Any]) -> ToolAccess:
    """Combine flags given before and after the tool's name. Raises: BadInput for an unknown effect."""
    words = ",".join(word for flags in given for word in flags.get("allow", ()))
    return ToolAccess(
        roots=tuple(root for flags in given for root in flags.get("roots", ())),
        files=tuple(file for flags in given for file in flags.get("files", ())),
        allow=parse_effects(words) if words else frozenset(),
        trust=any(flags.get("trust") for flags in given),
        read_only=any(flags.get("read_only") for flags in given),
        wait=any(flags.get("wait") for flags in given),
    )


def open_tools(
    scope: RequestScope,
    access: ToolAccess,
    asker: "Asker | None" = None,
    listener: EventListener[ToolEvent] | None = None,
) -> ToolSession:
    """The tools for a caller; the events of its calls go to `listener`.

    Raises: BadInput for invalid flags or an invalid policy, NotFound for missing roots.
    """
    toolbox = scope.toolbox
    inventory = toolbox.inventory.with_families(access.families) if access.families else toolbox.inventory
    path_scope = build_path_scope(scope, access)
    events = AsyncEventStream(scope.caller, listener or ignore_event)
    call_scope = CallScope(
        caller=scope.caller,
        policy=build_policy(scope.settings, access, toolbox.inventory.names()),
        path_scope=path_scope,
        services=toolbox.services_for(scope.settings, path_scope),
        asker=asker,
        hooks=scope.app.hooks,
        run_id=events.id,
        emit=ignore_event if listener is None else events.emit,
    )
    return ToolSession(inventory, call_scope, partial(toolbox.make_dispatcher, scope.settings))


def call_blocking(scope: RequestScope, session: ToolSession, name: str, args: Mapping[str, object]) -> Outcome:
    """Call one tool and wait for it; an event loop is started only for a call that needs one."""
    from inspect import iscoroutinefunction  # imported when used: listing the tools needs none of it

    from marid.toolkit.blocking import run_blocking

    spec = session.inventory.get(name)
    if spec is not None and iscoroutinefunction(spec.body):
        import anyio

        return anyio.run(session.call, name, args)
    dispatcher = scope.app.toolbox().make_blocking_dispatcher(scope.settings, session.inventory)
    return run_blocking(dispatcher.call(name, args, session.call_scope))


def list_tools(
    scope: RequestScope, access: ToolAccess = _NO_FLAGS, *, every: bool = False
) -> list[tuple[str, ToolSpec]]:
    """What a session for this caller would offer, by every name; see `ToolSession.tools`."""
    session = open_tools(scope, replace(access, rootless=True))
    try:
        return session.tools_by_name(every=every)
    finally:
        session.close()


def notice_listener(show: Callable[[str], None]) -> EventListener[ToolEvent]:
    """A listener that shows the notices, such as that nothing confines a command, and ignores everything else."""

    async def listen(event: Event[ToolEvent]) -> None:
        if isinstance(event.what, Notice):
            show(event.what.text)

    return listen


def build_policy(settings: Settings, access: ToolAccess, known: Sequence[str]) -> Policy:
    """The user's policy, narrowed by the project's, with what the flags grant."""
    outside: dict[str, Any] = {"outside": settings.tools.outside}
    policy = parse_policy({**outside, **settings.tools.policy}, settings.tools.project_policy, known=known)
    return replace(policy, granted=access.allow, trusted=access.trust, read_only=access.read_only, wait=access.wait)


def build_path_scope(scope: RequestScope, access: ToolAccess) -> PathScope:
    """The roots of the flags, else of the settings, else the project; and the paths that are allowed as well.

    Raises: BadInput outside a project if nothing is named.
    """
    roots = [_absolute(scope, root) for root in access.roots or scope.settings.tools.roots]
    if not roots:
        roots = [scope.project]
        if scope.project == os.path.dirname(scope.project):
            if not access.rootless:
                raise BadInput("not inside a project: name the folders that tools may use with --root DIR")
            roots = []
    besides = [_absolute(scope, path) for path in (*scope.settings.tools.files, *access.files)]
    folders = [path for path in besides if os.path.isdir(path)]
    files = [path for path in besides if not os.path.isdir(path)]
    return PathScope([*roots, *folders], files, scope.home, user=scope.app.context_ports.user_git_files)


def _absolute(scope: RequestScope, path: str) -> str:
    return os.path.normpath(os.path.join(scope.cwd, os.path.expanduser(path)))
