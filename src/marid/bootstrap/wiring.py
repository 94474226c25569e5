"""Which adapter stands behind which port. Each is imported when it is first needed."""

import os
from _thread import allocate_lock
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from marid.app.app import App, RequestScope, open_scope
from marid.assembly.context_ports import ContextPorts
from marid.bootstrap.environment import find_home, find_project, git_user_files, user_home, wants_colour
from marid.bootstrap.settings.settings_resolver import SettingsSources, resolve_settings
from marid.core.caller import Caller
from marid.core.errors import NotFound
from marid.core.settings.values import ResolvedSettings, Settings

if TYPE_CHECKING:
    # Importing a module costs a quarter of a millisecond at every start; only the type checker wants these here.
    from marid.adapters.sqlite_approvals import SqliteApprovals
    from marid.app.conversation_stores import ConversationStores
    from marid.app.toolbox import Toolbox
    from marid.ports.cache import Cache
    from marid.ports.clipboard import Clipboard
    from marid.ports.git import Clones, Git
    from marid.ports.job_pool import JobPool
    from marid.ports.model import Model
    from marid.ports.outlines import Outlines
    from marid.ports.watch import FileWatcher
    from marid.ports.workers import Workers
    from marid.toolkit.thread_pool import DaemonThreadPool

# Beyond that the disk and the one hand that writes set the pace.
_MAX_WORKERS = 4
# Most of them wait for the disk: a commit is shared by all that wait for it.
_MAX_THREADS = 32
_PYTHON = Caller(face="python")
_T = TypeVar("_T")


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
    app = build_app(os.path.abspath(home or find_home(environ)), environ)
    return open_scope(app, caller, cwd, folder, colour=wants_colour(environ))


def with_forks(scope: RequestScope) -> RequestScope:
    """The same request in a process that ends with it and has no threads: packing may be shared out between forks."""
    return scope._replace(
        app=scope.app._replace(context_ports=scope.app.context_ports._replace(job_pool=once(_fork_pool)))
    )


def build_app(home: str, environ: Mapping[str, str]) -> App:
    """What a process has, for one home."""
    adapters = Adapters(home, environ)
    cache = once(adapters.cache)
    workers = once(adapters.workers)
    git = once(adapters.git)
    approvals = once(adapters.approvals)
    threads = once(adapters.threads)
    context_ports = ContextPorts(
        git=git,
        clones=adapters.clones,
        cache=cache,
        outlines=once(lambda: adapters.outlines(cache(), workers())),
        user_git_files=git_user_files(environ),
    )
    return App(
        home=home,
        context_ports=context_ports,
        clipboard=once(adapters.clipboard),
        watch=once(adapters.watch),
        toolbox=once(lambda: adapters.toolbox(context_ports, workers, approvals, threads)),
        approvals=approvals,
        stores=once(adapters.stores),
        threads=threads,
        resolve_settings=partial(_resolve_settings, home, environ),
        model=adapters.model,
        providers=adapters.providers,
        user_home=user_home(environ),
    )


def once(make: Callable[[], _T]) -> Callable[[], _T]:
    """Return a function that calls `make` the first time and returns the same result afterwards."""
    made: list[_T] = []
    lock = allocate_lock()  # a server may ask from several threads at once

    def get() -> _T:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return cache(get)


def _resolve_settings(
    home: str, environ: Mapping[str, str], project: str, conversation: str, overrides: Mapping[str, object]
) -> ResolvedSettings:
    return resolve_settings(SettingsSources(home, project, environ, conversation, overrides))


def _fork_pool() -> "JobPool":
    from marid.adapters.workers.fork_pool import ForkPool

    return ForkPool(min(len(os.sched_getaffinity(0)), _MAX_WORKERS) - 1)


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise NotFound("the working directory is gone: change to one that is there") from error


class Adapters:
    """Makes the adapters of a home; each is imported when it is first needed."""

    def __init__(self, home: str, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = environ

    def git(self) -> "Git":
        from marid.adapters.git.local_git import LocalGit

        return LocalGit(self._environ)

    def clones(self, on_note: Callable[[str], None]) -> "Clones":
        from marid.adapters.git.clones import CachedClones

        return CachedClones(os.path.join(self._home, "cache"), self._environ, on_note=on_note)

    def cache(self) -> "Cache":
        from marid.adapters.sqlite_cache import SqliteCache

        return SqliteCache(os.path.join(self._home, "cache", "content.db"))

    def outlines(self, cache: "Cache", workers: "Workers") -> "Outlines":
        from marid.adapters.workers.worker_outlines import WorkerOutlines
        from marid.assembly.outline_cache import CachedOutlines

        return CachedOutlines(WorkerOutlines(workers), cache)

    def workers(self) -> "Workers":
        from marid.adapters.workers.pool import ProcessWorkers

        return ProcessWorkers()

    def toolbox(
        self,
        context_ports: ContextPorts,
        workers: "Callable[[], Workers]",
        approvals: "Callable[[], SqliteApprovals]",
        threads: "Callable[[], DaemonThreadPool]",
    ) -> "Toolbox":
        from marid.bootstrap.tool_wiring import SharedAdapters, make_toolbox

        return make_toolbox(self._home, self._environ, SharedAdapters(context_ports, workers, approvals, threads))

    def threads(self) -> "DaemonThreadPool":
        from marid.toolkit.thread_pool import DaemonThreadPool

        return DaemonThreadPool(_MAX_THREADS)

    def approvals(self) -> "SqliteApprovals":
        from marid.adapters.sqlite_approvals import SqliteApprovals

        return SqliteApprovals(os.path.join(self._home, "approvals.db"))

    def stores(self) -> "ConversationStores":
        from marid.bootstrap.model_wiring import make_stores

        return make_stores(self._home)

    def model(self, settings: Settings, files: Mapping[str, str]) -> "Model":
        from marid.bootstrap.model_wiring import make_model

        return make_model(settings, self._environ, files)

    def providers(self, settings: Settings) -> "tuple[Model, ...]":
        from marid.bootstrap.model_wiring import make_providers

        return make_providers(settings, self._environ)

    def clipboard(self) -> "Clipboard":
        from marid.adapters.system_clipboard import SystemClipboard

        return SystemClipboard(self._environ)

    def watch(self) -> "FileWatcher":
        from marid.adapters.file_watch import FileWatch

        return FileWatch()
