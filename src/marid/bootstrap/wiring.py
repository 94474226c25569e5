"""Which adapter stands behind which port. Each is imported when it is first needed."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from marid.app.app import App
from marid.assembly.context_ports import ContextPorts
from marid.bootstrap.environment import find_home, find_project, git_user_files, user_home, wants_colour
from marid.bootstrap.once import once
from marid.bootstrap.settings.settings_resolver import SettingsSources, resolve_settings
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

# Beyond that the disk and the one hand that writes set the pace.
_MAX_WORKERS = 4


def build(
    *,
    cwd: str | None = None,
    home: str | None = None,
    project: str | None = None,
    environ: Mapping[str, str] | None = None,
    one_shot: bool = False,
) -> App:
    """The workbench for a working directory. In a `one_shot` process, which has no threads, work may be forked off.

    `home` and `project` are what flags name.

    Raises: BadInput when a settings file or variable is wrong, NotFound when the working directory is gone.
    """
    environ = os.environ if environ is None else environ
    cwd = _working_directory() if cwd is None else cwd
    project = find_project(environ, cwd, project or "")
    sources = SettingsSources(os.path.abspath(home or find_home(environ)), project, environ)
    settings, _, notes = resolve_settings(sources)
    adapters = Adapters(settings, environ)
    cache = once(adapters.cache)
    workers = once(adapters.workers)
    git = once(adapters.git)
    context_ports = ContextPorts(
        git=git,
        clones=adapters.clones,
        cache=cache,
        outlines=once(lambda: adapters.outlines(cache(), workers())),
        user_git_files=git_user_files(environ),
        settings_rules=settings.context.rules,
        crew=once(adapters.crew) if one_shot else None,
    )
    return App(
        settings=settings,
        cwd=cwd,
        project=project,
        context_ports=context_ports,
        colour=wants_colour(environ),
        clipboard=once(adapters.clipboard),
        watch=once(adapters.watch),
        toolbox=once(lambda: adapters.toolbox(context_ports, workers)),
        approvals=adapters.approvals,
        resolve=partial(_resolve_for, sources),
        stores=adapters.stores,
        model=adapters.model,
        providers=adapters.providers,
        user_home=user_home(environ),
        notes=notes,
    )


def _resolve_for(sources: SettingsSources, conversation: str, flags: Mapping[str, object]) -> ResolvedSettings:
    return resolve_settings(sources._replace(conversation=conversation, flags=flags))


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise NotFound("the working directory is gone: change to one that is there") from error


class Adapters:
    """Makes the adapters that settings and environment ask for."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ

    def git(self) -> "Git":
        from marid.adapters.git.local_git import LocalGit

        return LocalGit(self._environ)

    def clones(self, on_note: Callable[[str], None]) -> "Clones":
        from marid.adapters.git.clones import CachedClones

        return CachedClones(os.path.join(self._settings.home, "cache"), self._environ, on_note=on_note)

    def cache(self) -> "Cache":
        from marid.adapters.sqlite_cache import SqliteCache

        return SqliteCache(os.path.join(self._settings.home, "cache", "content.db"))

    def outlines(self, cache: "Cache", workers: "Workers") -> "Outlines":
        from marid.adapters.workers.worker_outlines import WorkerOutlines
        from marid.assembly.outline_cache import CachedOutlines

        return CachedOutlines(WorkerOutlines(workers), cache)

    def workers(self) -> "Workers":
        from marid.adapters.workers.pool import ProcessWorkers

        return ProcessWorkers()

    def toolbox(self, context_ports: ContextPorts, workers: "Callable[[], Workers]") -> "Toolbox":
        from marid.bootstrap.tool_wiring import make_toolbox

        return make_toolbox(self._settings, self._environ, context_ports, workers=workers, approvals=self.approvals)

    def approvals(self) -> "SqliteApprovals":
        from marid.adapters.sqlite_approvals import SqliteApprovals

        return SqliteApprovals(os.path.join(self._settings.home, "approvals.db"))

    def stores(self, settings: Settings) -> "ConversationStores":
        from marid.bootstrap.model_wiring import make_stores

        return make_stores(settings.home)

    def model(self, settings: Settings, files: Mapping[str, str]) -> "Model":
        from marid.bootstrap.model_wiring import make_model

        return make_model(settings, self._environ, files)

    def providers(self, settings: Settings) -> "tuple[Model, ...]":
        from marid.bootstrap.model_wiring import make_providers

        return make_providers(settings, self._environ)

    def crew(self) -> "JobPool":
        from marid.adapters.workers.fork_pool import ForkPool

        return ForkPool(min(len(os.sched_getaffinity(0)), _MAX_WORKERS) - 1)

    def clipboard(self) -> "Clipboard":
        from marid.adapters.system_clipboard import SystemClipboard

        return SystemClipboard(self._environ)

    def watch(self) -> "FileWatcher":
        from marid.adapters.file_watch import FileWatch

        return FileWatch()
