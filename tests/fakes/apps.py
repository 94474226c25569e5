"""An App with nothing behind it but what a test gives."""

from typing import Any, NoReturn

from marid.app.app import App
from marid.assembly.context_ports import ContextPorts
from marid.core.errors import Unavailable
from marid.toolkit.thread_pool import DaemonThreadPool
from marid.workspace.rules.ignore_files import UserGitFiles


def _nothing(*_: object) -> NoReturn:
    raise Unavailable("there is nothing here")


def bare_app(home: str = "", **parts: Any) -> App:
    """The parts that are not given raise Unavailable."""
    names = [name for name in App._fields if name not in ("home", "context_ports", "user_home")]
    ports = ContextPorts(
        git=_nothing, clones=_nothing, cache=_nothing, outlines=_nothing, user_git_files=UserGitFiles()
    )
    usual: dict[str, Any] = {**dict.fromkeys(names, _nothing), "context_ports": ports, "threads": DaemonThreadPool}
    return App(home=home, **{**usual, **parts})
