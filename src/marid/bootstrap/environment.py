"""What the process was started with: the one place that reads the environment."""

import os
from collections.abc import Mapping

from marid.core.errors import BadInput, NotFound
from marid.text.display import quote_path
from marid.workspace.project import find_project_root
from marid.workspace.rules.ignore_files import UserGitFiles


def user_home(environ: Mapping[str, str]) -> str:
    """The home folder of the person: what HOME says, else the system's list of users; "" where nobody knows it."""
    if home := environ.get("HOME"):
        return home
    import pwd  # imported when used: nearly everybody has HOME

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def find_home(environ: Mapping[str, str]) -> str:
    """Where marid keeps its own files: MARID_HOME, else CHIBI_HOME, else ~/.marid.

    Raises: BadInput when nothing says where that is.
    """
    if given := environ.get("MARID_HOME") or environ.get("CHIBI_HOME"):
        return os.path.abspath(given)
    if not (user := user_home(environ)):
        raise BadInput("you have no home folder: say where marid keeps its files, by MARID_HOME or --home")
    return os.path.join(os.path.abspath(user), ".marid")


def find_project(environ: Mapping[str, str], cwd: str, given: str = "") -> str:
    """The project's folder: what a flag gives, else MARID_PROJECT_ROOT, else CHIBI_PROJECT_ROOT, else as version
    control marks it.

    Raises: NotFound when what was given is no folder.
    """
    named = given or environ.get("MARID_PROJECT_ROOT") or environ.get("CHIBI_PROJECT_ROOT")
    if not named:
        return find_project_root(cwd)
    folder = os.path.normpath(os.path.join(cwd, named))
    if not os.path.isdir(folder):
        raise NotFound(f"the project root '{quote_path(named)}' is no folder")
    return folder


def git_user_files(environ: Mapping[str, str]) -> UserGitFiles:
    """Where git looks for this user's configuration, as git's own documentation lists it."""
    home = user_home(environ)
    # Without any home these would be files of the working directory, which anybody may have written.
    shared = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    system = () if environ.get("GIT_CONFIG_NOSYSTEM") else (environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig",)
    own = environ.get("GIT_CONFIG_GLOBAL")
    ours = (shared and os.path.join(shared, "git", "config"), home and os.path.join(home, ".gitconfig"))
    globals_ = (own,) if own else tuple(filter(None, ours))
    ignore = shared and os.path.join(shared, "git", "ignore")
    return UserGitFiles(configs=(*system, *globals_), excludes=ignore, home=home)


def completion_request(program: str) -> tuple[str, str] | None:
    """The variable by which a shell asks for completions of a program's command line, and what it says; else None."""
    variable = f"_{program.upper()}_COMPLETE"
    return (variable, os.environ[variable]) if os.environ.get(variable) else None


def disable_pydantic_plugins() -> None:
    """Keep pydantic from looking through all that is installed for plugins: the program uses none.

    Only for a process of our own; for a program that uses marid as a library it is not ours to say.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def wants_colour(environ: Mapping[str, str]) -> bool:
    """Whether a terminal should be coloured: NO_COLOR and a dumb terminal say no, FORCE_COLOR says yes."""
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or environ.get("TERM", "dumb") != "dumb"
