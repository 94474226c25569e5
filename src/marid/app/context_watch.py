"""Context that follows its files: written again whenever they change."""

import os
from collections.abc import Callable, Iterator

from marid.app.app import RequestScope
from marid.app.project_context import EventSink, assemble, save
from marid.assembly.content_cache import ContentCache
from marid.assembly.pipeline import ContextRun
from marid.assembly.selection import resolve_targets
from marid.core.context import ContextReport, ContextRequest
from marid.core.conversation.entry import new_id
from marid.core.errors import MaridError
from marid.core.events import EventStream, Notice
from marid.workspace.rules.ignore_files import CONTEXT_FILE, IGNORE_FILES

_RULE_FILES = frozenset((CONTEXT_FILE, *IGNORE_FILES, ".git", "exclude", "config"))


def follow(
    scope: RequestScope,
    request: ContextRequest,
    listener: EventSink,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[ContextReport]:
    """Write the output now and after every change, until `stop()`; a report each time.

    The first error is raised. Later ones are notices, and the last good output stays: the next change may fix them.
    """
    memory = ContentCache()
    first = assemble(scope, request, listener, memory)
    emit = EventStream(new_id(), scope.caller, listener).emit
    output = os.path.realpath(os.path.join(request.cwd, request.output))
    # Not the selection's top: the walk has to wait until the watch stands, or it would miss what comes between.
    top = resolve_targets(first.request.selection.targets, request.cwd, request.selection.base).top
    written = False
    for changed in scope.app.watch().changes([top], stop):
        if written and not _invalidate(memory, changed, top, request):
            continue
        run = ContextRun(first.request, scope.context_ports, emit, memory) if written else first
        try:
            save(run, output)
        except MaridError as error:
            if not written:
                raise
            emit(Notice(text=f"not written: {error}"))
            continue
        written = True
        yield run.report()


def _invalidate(memory: ContentCache, changed: frozenset[str], top: str, request: ContextRequest) -> bool:
    """Drop what changed from the memory; returns whether any of it matters."""
    mattering = [path for path in changed if not _is_own_output(path, request)]
    if not mattering:
        return False
    selected = frozenset(memory.selection.paths()) if memory.selection else frozenset[str]()
    config = os.path.realpath(os.path.join(request.cwd, request.selection.config))
    below = {os.path.relpath(path, top): path for path in mattering}
    plain = not request.selection.changed_since and all(
        name in selected and path != config and _is_plain_file(path) for name, path in below.items()
    )
    memory.invalidate(below.keys(), walk=not plain)
    return True


def _is_own_output(path: str, request: ContextRequest) -> bool:
    """Whether it is what a run writes, or that file while it is being written."""
    for written in filter(None, (request.output, request.lock)):
        place = os.path.realpath(os.path.join(request.cwd, written))
        folder, name = os.path.split(place)
        if path == place or (path.startswith(f"{folder}/.{name[:100]}.") and path.endswith(".tmp")):
            return True
    return False


def _is_plain_file(path: str) -> bool:
    """Whether a change of it is a change of its content and nothing else."""
    return os.path.basename(path) not in _RULE_FILES and os.path.isfile(path) and not os.path.islink(path)
