"""The composition root: which adapter stands behind which port."""

import os
from collections.abc import Mapping
from functools import partial

from marid.app.app import App, RequestScope, open_scope
from marid.assembly.context_ports import ContextPorts
from marid.bootstrap.environment import (
    disable_pydantic_plugins,
    find_home,
    find_project,
    git_user_files,
    user_home,
    wants_colour,
)
from marid.bootstrap.parts import lazy, make, once
from marid.core.caller import Caller
from marid.core.errors import NotFound

_CACHED_OUTLINES, _WORKER_OUTLINES = (
    "marid.assembly.outline_cache:CachedOutlines",
    "marid.adapters.workers.worker_outlines:WorkerOutlines",
)
# Beyond that the disk and the one process that writes set the pace.
_MAX_FORKS = 4
# Most of them wait for the disk or for a command, and commands take half of them at most.
_MAX_THREADS = 64
_PYTHON = Caller(face="python")


def open_request(
    *,
    home: str | None = None,
    cwd: str | None = None,
    project: str | None = None,
    environ: Mapping[str, str] | None = None,
    caller: Caller = _PYTHON,
) -> RequestScope:
    """Build the App of this process and begin a request; `home` and `project` are what flags name.

    Raises: BadInput when there is no home folder, NotFound when the working directory or the project does not exist.
    """
    environ = os.environ if environ is None else environ
    cwd = _working_directory() if cwd is None else cwd
    folder = find_project(environ, cwd, project or "")
    if caller is not _PYTHON:
        disable_pydantic_plugins()
    app = build_app(os.path.abspath(home or find_home(environ)), environ, folder)
    return open_scope(app, caller, cwd, folder, colour=wants_colour(environ))


def with_forks(scope: RequestScope) -> RequestScope:
    """The same request in a process that ends with it and has no threads: packing may be shared out between forks."""
    forks = min(len(os.sched_getaffinity(0)), _MAX_FORKS) - 1
    ports = scope.app.context_ports._replace(job_pool=lazy("marid.adapters.workers.fork_pool:ForkPool", forks))
    return scope._replace(app=scope.app._replace(context_ports=ports))


def build_app(home: str, environ: Mapping[str, str], project: str) -> App:
    """What a process has, for one home; no program of the project is started."""
    roots = (project,)
    cache_folder = os.path.join(home, "cache")
    cache = lazy("marid.adapters.sqlite_cache:SqliteCache", os.path.join(cache_folder, "content.db"))
    workers = lazy("marid.adapters.workers.pool:ProcessWorkers")
    approvals = lazy("marid.adapters.sqlite_approvals:SqliteApprovals", os.path.join(home, "approvals.db"))
    threads = lazy("marid.toolkit.thread_pool:DaemonThreadPool", _MAX_THREADS)
    shared = {"workers": workers, "approvals": approvals, "threads": threads}
    context_ports = ContextPorts(
        git=lazy("marid.adapters.git.local_git:LocalGit", environ, roots=roots),
        clones=partial(make, "marid.adapters.git.clones:CachedClones", cache_folder, environ, roots=roots),
        cache=cache,
        outlines=once(lambda: make(_CACHED_OUTLINES, make(_WORKER_OUTLINES, workers()), cache())),
        user_git_files=git_user_files(environ),
    )
    return App(
        home=home,
        context_ports=context_ports,
        clipboard=lazy("marid.adapters.system_clipboard:SystemClipboard", environ, roots=roots),
        watch=lazy("marid.adapters.file_watch:FileWatch"),
        toolbox=lazy("marid.bootstrap.tool_wiring:make_toolbox", home, environ, context_ports, shared),
        approvals=approvals,
        stores=lazy("marid.adapters.store.conversations:open_stores", home),
        threads=threads,
        resolve_settings=partial(make, "marid.bootstrap.settings.settings_resolver:resolve_settings", home, environ),
        model=partial(make, "marid.bootstrap.model_wiring:make_model", environ, threads=threads),
        providers=partial(make, "marid.bootstrap.model_wiring:make_providers", environ, threads=threads),
        user_home=user_home(environ),
    )


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise NotFound("the working directory is gone: change to one that exists") from error
