"""The verbs on project context: assemble, save, explain, compare."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from marid.app.app import RequestScope
from marid.app.output_files import save_bytes
from marid.assembly.pipeline import ContextRun, compute_lock
from marid.assembly.selection import admit_named_files, make_selection_rules, resolve_targets
from marid.core.context import ContextRequest, FileSelection
from marid.core.conversation.entry import new_id
from marid.core.errors import BadInput
from marid.core.events import ContextEvent, Emit, Event, EventStream, Notice
from marid.text.display import quote_path
from marid.workspace.explain import explain
from marid.workspace.plain_files import write_all
from marid.workspace.rules.rule_stack import PathMatcher
from marid.workspace.walk import Walker

if TYPE_CHECKING:
    from marid.assembly.content_cache import ContentCache

EventSink = Callable[[Event[ContextEvent]], None]


def assemble(
    scope: RequestScope, request: ContextRequest, listener: EventSink, memory: "ContentCache | None" = None
) -> ContextRun:
    """Start a request: iterate the result for the output, then ask it for its report."""
    emit = EventStream(new_id(), scope.caller, listener).emit
    return ContextRun(_clone_targets(scope, request, emit), scope.context_ports, emit, memory)


def save(run: ContextRun, path: str) -> None:
    """Write a run's output to a file, whole or not at all.

    Raises: Refused when the place cannot be written.
    """
    save_bytes(iter(run), path)
    _write_lock(run)


def send(run: ContextRun, descriptor: int) -> None:
    """Write a run's output to an open descriptor as it is made.

    Raises: BrokenPipeError when the reader has gone.
    """
    for batch in run:
        write_all(descriptor, batch)
    _write_lock(run)


def _write_lock(run: ContextRun) -> None:
    lock = run.lock()
    if lock is not None:
        # Imported when used: few runs leave a lock.
        from marid.assembly.lock import dump_lock

        save_bytes([[dump_lock(lock)]], os.path.join(run.request.cwd, run.request.lock))


def explain_path(scope: RequestScope, wanted: FileSelection, path: str) -> str:
    """Which rule of which file at which line decides about `path`.

    Raises: NotFound, BadInput when the path is not there or not below the target.
    """
    targets = resolve_targets(wanted.targets, scope.cwd, wanted.base)
    ruling = make_selection_rules(
        wanted, scope.cwd, scope.context_ports.user_git_files, scope.context_ports.settings_rules
    )
    full = os.path.join(scope.cwd, path)
    place = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
    if not os.path.lexists(place) and os.path.lexists(os.path.join(targets.top, path)):
        place = os.path.normpath(os.path.join(targets.top, path))
    below = os.path.relpath(place, targets.top)
    if below == ".." or below.startswith("../"):
        raise BadInput(f"'{quote_path(path)}' is not below '{targets.top}'")
    if ruling.only and not os.path.isdir(place) and PathMatcher(ruling.only).last_match(below) < 0:
        return f"{quote_path(path)}: excluded because no --only pattern matches it"
    if below == "." or below in targets.folders or below in admit_named_files(targets, ruling):
        return f"{quote_path(path)}: included because it is named"
    holding = [folder for folder in targets.folders if not folder or below.startswith(f"{folder}/")]
    if not holding:
        return f"{quote_path(path)}: excluded because it is not below a target"
    return str(explain(Walker(targets.top, ruling), below, max(holding, key=len)))


def lock_differences(scope: RequestScope, lock: str, listener: EventSink) -> Iterator[str]:
    """What would differ if the pack of a lock file were made again now, a line each."""
    from marid.assembly.lock import diff_locks, load_lock, request_from_lock

    path = os.path.join(scope.cwd, lock)
    old = load_lock(path)
    emit = EventStream(new_id(), scope.caller, listener).emit
    request = _clone_targets(scope, request_from_lock(old, path), emit)
    return diff_locks(old, compute_lock(request, scope.context_ports, emit))


def _clone_targets(scope: RequestScope, request: ContextRequest, emit: Emit) -> ContextRequest:
    """With targets that are elsewhere replaced by their copy here."""
    wanted = request.selection
    if all(os.path.lexists(os.path.join(request.cwd, target)) for target in wanted.targets):
        return request
    # Imported when used: what is not here is rare.
    from marid.text.git_text import clone_url, public_url

    targets, origins = list(wanted.targets), [""] * len(wanted.targets)
    for at, target in enumerate(wanted.targets):
        here = os.path.lexists(os.path.join(request.cwd, target))
        url = None if here else clone_url(target, scope.settings.context.clone_host)
        if url is not None:
            clones = scope.context_ports.clones(lambda text: emit(Notice(text=text)))
            targets[at], origins[at] = clones.clone(url, wanted.branch or None), public_url(url)
    return request._replace(selection=wanted._replace(targets=tuple(targets), origins=tuple(origins)))


def copy(scope: RequestScope, run: ContextRun) -> str:
    """Put a run's output on the clipboard; returns the name of what was used.

    Raises: Unavailable when there is no clipboard to be had.
    """
    data = b"".join(piece for batch in run for piece in batch)
    used = scope.app.clipboard().copy(data)
    _write_lock(run)
    return used
