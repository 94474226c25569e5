"""Read the environment of the process."""

import os
from collections.abc import Mapping

from marid.core.errors import BadInput, NotFound
from marid.text.display import quote_path
from marid.workspace.project import find_project_root
from marid.workspace.rules.ignore_files import UserGitFiles


def user_home(environ: Mapping[str, str]) -> str:
    """The user's home folder: HOME, else from the system's list of users; "" if it is unknown."""
    if home := environ.get("HOME"):
        return home
    import pwd  # imported when used: HOME is nearly always set

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def find_home(environ: Mapping[str, str]) -> str:
    """Where marid keeps its own files: MARID_HOME, else CHIBI_HOME, else ~/.marid.

    Raises: BadInput if there is no home folder.
    """
    if given := environ.get("MARID_HOME") or environ.get("CHIBI_HOME"):
        return os.path.abspath(given)
    if not (user := user_home(environ)):
        raise BadInput("no home folder found: set MARID_HOME or use --home DIR")
    return os.path.join(os.path.abspath(user), ".marid")


def find_project(environ: Mapping[str, str], cwd: str, given: str = "") -> str:
    """The project's folder: from a flag, else MARID_PROJECT_ROOT, else CHIBI_PROJECT_ROOT, else from version control.

    Raises: NotFound if the given one is not a folder.
    """
    named = given or environ.get("MARID_PROJECT_ROOT") or environ.get("CHIBI_PROJECT_ROOT")
    if not named:
        return find_project_root(cwd)
    folder = os.path.normpath(os.path.join(cwd, named))
    if not os.path.isdir(folder):
        raise NotFound(f"the project root '{quote_path(named)}' is not a folder")
    return folder


def git_user_files(environ: Mapping[str, str]) -> UserGitFiles:
    """Where git looks for this user's configuration, as git's own documentation lists it."""
    home = user_home(environ)
    # Without a home these would be files of the working directory, which may be hostile.
    shared = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    system = () if environ.get("GIT_CONFIG_NOSYSTEM") else (environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig",)
    own = environ.get("GIT_CONFIG_GLOBAL")
    ours = (shared and os.path.join(shared, "git", "config"), home and os.path.join(home, ".gitconfig"))
    globals_ = (own,) if own else tuple(filter(None, ours))
    ignore = shared and os.path.join(shared, "git", "ignore")
    return UserGitFiles(configs=(*system, *globals_), excludes=ignore, home=home)


def completion_request(program: str) -> tuple[str, str] | None:
    """The name and value of the variable by which a shell asks for completions; None if it does not."""
    variable = f"_{program.upper()}_COMPLETE"
    return (variable, os.environ[variable]) if os.environ.get(variable) else None


def disable_pydantic_plugins() -> None:
    """Keep pydantic from searching all installed packages for plugins: we use none.

    Only in our own process: a program that uses marid as a library may have some.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def wants_colour(environ: Mapping[str, str]) -> bool:
    """Whether to colour a terminal: not with NO_COLOR or a dumb terminal; with FORCE_COLOR always."""
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or environ.get("TERM", "dumb") != "dumb"
