"""The verbs on project context: assemble, save, explain, compare."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from marid.app.app import App
from marid.app.saving import save_bytes
from marid.assembly.run import Run
from marid.assembly.select import locate, ruling_of, welcome
from marid.core.caller import Caller
from marid.core.context import ContextRequest, Wanted
from marid.core.errors import BadInput
from marid.core.events import Emit, Event, Note, Stream
from marid.core.ids import new_id
from marid.text.visible import shown_path
from marid.workspace.explain import explain
from marid.workspace.replace import write_all
from marid.workspace.walk import Walker

if TYPE_CHECKING:
    from marid.assembly.memory import Memory

_MEGABYTE = 1 << 20
_BOUNDLESS = 1 << 50  # of megabytes

Listener = Callable[[Event], None]


def byte_limit(megabytes: float) -> int:
    """A size limit in bytes.

    Raises: BadInput for a number that is no size.
    """
    if not 0 < megabytes < _BOUNDLESS:
        raise BadInput(f"the size limit must be a number of megabytes above 0, not {megabytes:g}")
    return int(megabytes * _MEGABYTE)


def assemble(
    app: App, request: ContextRequest, caller: Caller, listener: Listener, memory: "Memory | None" = None
) -> Run:
    """Start a request: iterate the result for the output, then ask it for its report."""
    del caller  # who asked decides nothing yet: context only reads
    emit = Stream(new_id(), listener).emit
    return Run(_cloned(app, request, emit), app.means, emit, memory)


def save(run: Run, path: str) -> None:
    """Write a run's output to a file, whole or not at all.

    Raises: Refused when the place cannot be written.
    """
    save_bytes(iter(run), path)
    _lock(run)


def send(run: Run, descriptor: int) -> None:
    """Write a run's output to an open descriptor as it is made.

    Raises: BrokenPipeError when the reader has gone.
    """
    for batch in run:
        write_all(descriptor, batch)
    _lock(run)


def _lock(run: Run) -> None:
    """Record what a run packed, where it was asked for."""
    if not run.request.lock or run.request.frozen:
        return
    # Imported when used: few runs leave a lock.
    from marid.assembly.lock import dump

    save_bytes([[dump(run.lock())]], os.path.join(run.request.cwd, run.request.lock))


def why(app: App, wanted: Wanted, path: str) -> str:
    """Which rule of which file at which line decides about `path`.

    Raises: NotFound, BadInput when the path is not there or not below the target.
    """
    targets = locate(wanted.targets, app.cwd, wanted.base)
    ruling = ruling_of(wanted, app.cwd, app.means.user, app.means.rules)
    full = os.path.join(app.cwd, path)
    place = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
    if not os.path.lexists(place) and os.path.lexists(os.path.join(targets.top, path)):
        place = os.path.normpath(os.path.join(targets.top, path))
    below = os.path.relpath(place, targets.top)
    if below == ".." or below.startswith("../"):
        raise BadInput(f"'{shown_path(path)}' is not below '{targets.top}'")
    if below == "." or below in targets.folders or below in welcome(targets, ruling):
        return f"{shown_path(path)}: included because it is named"
    holding = [folder for folder in targets.folders if not folder or below.startswith(f"{folder}/")]
    if not holding:
        return f"{shown_path(path)}: excluded because it is not below a target"
    return str(explain(Walker(targets.top, ruling), below, max(holding, key=len)))


def changes(app: App, lock: str, listener: Listener) -> Iterator[str]:
    """What would differ if the pack of a lock file were made again now, a line each."""
    from marid.assembly.lock import differences, load
    from marid.assembly.locking import from_lock

    path = os.path.join(app.cwd, lock)
    old = load(path)
    emit = Stream(new_id(), listener).emit
    run = Run(_cloned(app, from_lock(old, path), emit), app.means, emit)
    for _ in run:
        pass
    return differences(old, run.lock())


def _cloned(app: App, request: ContextRequest, emit: Emit) -> ContextRequest:
    """With targets that are elsewhere replaced by their copy here."""
    wanted = request.wanted
    if all(os.path.lexists(os.path.join(request.cwd, target)) for target in wanted.targets):
        return request
    # Imported when used: what is not here is rare.
    from marid.text.gitnames import clone_url, public_url

    targets, origins = list(wanted.targets), [""] * len(wanted.targets)
    for at, target in enumerate(wanted.targets):
        here = os.path.lexists(os.path.join(request.cwd, target))
        url = None if here else clone_url(target, app.settings.clone_host)
        if url is not None:
            clones = app.means.clones(lambda text: emit(Note(text=text)))
            targets[at], origins[at] = clones.clone(url, wanted.branch or None), public_url(url)
    return request._replace(wanted=wanted._replace(targets=tuple(targets), origins=tuple(origins)))


def copy(app: App, run: Run) -> str:
    """Put a run's output on the clipboard; returns the name of what was used.

    Raises: Unavailable when there is no clipboard to be had.
    """
    data = b"".join(piece for batch in run for piece in batch)
    used = app.clipboard().copy(data)
    _lock(run)
    return used
